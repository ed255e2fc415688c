#include <pybind11/pybind11.h>

#include <algorithm>
#include <vector>

#include "bindings/arguments.h"
#include "bindings/numpy_views.h"
#include "bindings/topics.h"
#include "core/reinforcement.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

// Some microseconds of work on a few slots: the GIL is kept, which also keeps two calls apart.
py::bytes succeed_slots(const py::object& slots, const py::object& counted, const py::object& row,
                        const py::object& strength, const py::object& anchor,
                        const py::object& intensity, const py::object& accessed,
                        const py::object& accesses, const py::object& now, const py::object& unit,
                        const py::object& rate, const py::object& gain) {
  const Span<const std::int64_t> chosen = vector_view<std::int64_t>(slots, "slots");
  const RowMask counts = mask_view(counted, "counted", chosen.size);
  const Span<double> strengths = mutable_view<double>(strength, "strength");
  const std::size_t size = strengths.size;
  const StrengthColumns columns{vector_view<std::int64_t>(row, "row", size),
                                strengths,
                                mutable_view<double>(anchor, "anchor", size),
                                vector_view<double>(intensity, "intensity", size),
                                mutable_view<std::int64_t>(accessed, "accessed", size),
                                mutable_view<std::int64_t>(accesses, "accesses", size)};
  const SuccessRule rule{checked_number(rate, "rate"), checked_number(unit, "unit"),
                         checked_number(gain, "gain")};
  // Made before anything changes: there may be no memory for it.
  auto told = py::reinterpret_steal<py::bytes>(
      PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(chosen.size * sizeof(Trace))));
  if (!told) throw py::error_already_set();
  const std::vector<Trace> before =
      succeed(columns, chosen, counts, checked_integer(now, "now"), rule);
  std::copy_n(reinterpret_cast<const char*>(before.data()), before.size() * sizeof(Trace),
              PyBytes_AS_STRING(told.ptr()));
  return told;
}

}  // namespace

void bind_reinforcement(py::module_& m) {
  m.def("succeed", &succeed_slots,
        "Let slots succeed in place; return what they were like before, as ebb::Trace.",
        py::arg("slots"), py::arg("counted"), py::arg("row"), py::arg("strength"),
        py::arg("anchor"), py::arg("intensity"), py::arg("accessed"), py::arg("accesses"),
        py::arg("now"), py::arg("unit"), py::arg("rate"), py::arg("gain"));
}

}  // namespace ebb::bindings
