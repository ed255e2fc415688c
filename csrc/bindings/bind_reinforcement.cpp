#include <pybind11/pybind11.h>

#include <array>
#include <optional>
#include <utility>

#include "bindings/arguments.h"
#include "bindings/numpy_views.h"
#include "bindings/topics.h"
#include "core/reinforcement.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

// The columns of a scope, held as they are.
class HeldStrengths {
 public:
  HeldStrengths(py::object row, py::object strength, py::object anchor, py::object intensity,
                py::object accessed, py::object accesses, const py::object& unit,
                const py::object& rate)
      : unit_(checked_number(unit, "unit")),
        rate_(checked_number(rate, "rate")),
        columns_(columns_of(row, strength, anchor, intensity, accessed, accesses)),
        held_{std::move(row),       std::move(strength), std::move(anchor),
              std::move(intensity), std::move(accessed), std::move(accesses)} {}

  // Some microseconds of work on a few slots: the GIL is kept, which also keeps two calls apart.
  py::bytes succeed(const py::object& slots, const py::object& similarity, const py::object& hits,
                    const py::object& now, const py::object& gain, const py::object& evidence,
                    const py::object& refractory) const {
    const auto chosen = vector_view<std::int64_t>(slots, "slots");
    const Recalled recalled{chosen, vector_view<double>(similarity, "similarity", chosen.size),
                            checked_count(hits, "hits", 0), guard_of(evidence, refractory)};
    const std::int64_t moment = checked_integer(now, "now");
    const SuccessRule rule{rate_, unit_, checked_number(gain, "gain")};
    // Made before anything changes: there may be no memory for it.
    auto told = py::reinterpret_steal<py::bytes>(
        PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(chosen.size * sizeof(Trace))));
    if (!told) throw py::error_already_set();
    ebb::succeed(columns_, recalled, moment, rule,
                 reinterpret_cast<Trace*>(PyBytes_AS_STRING(told.ptr())));
    return told;
  }

 private:
  static StrengthColumns columns_of(const py::object& row, const py::object& strength,
                                    const py::object& anchor, const py::object& intensity,
                                    const py::object& accessed, const py::object& accesses) {
    const Span<double> strengths = mutable_view<double>(strength, "strength");
    const std::size_t size = strengths.size;
    return {vector_view<std::int64_t>(row, "row", size),
            strengths,
            mutable_view<double>(anchor, "anchor", size),
            vector_view<double>(intensity, "intensity", size),
            mutable_view<std::int64_t>(accessed, "accessed", size),
            mutable_view<std::int64_t>(accesses, "accesses", size)};
  }

  static std::optional<SuccessGuard> guard_of(const py::object& evidence,
                                              const py::object& refractory) {
    if (evidence.is_none()) return std::nullopt;
    return SuccessGuard{checked_number(evidence, "evidence"),
                        checked_integer(refractory, "refractory")};
  }

  double unit_;
  double rate_;
  StrengthColumns columns_;
  std::array<py::object, 6> held_;
};

}  // namespace

void bind_reinforcement(py::module_& m) {
  py::class_<HeldStrengths>(m, "Strengths", "The strengths of memories by slot, in columns.")
      .def(py::init<py::object, py::object, py::object, py::object, py::object, py::object,
                    const py::object&, const py::object&>(),
           py::arg("row"), py::arg("strength"), py::arg("anchor"), py::arg("intensity"),
           py::arg("accessed"), py::arg("accesses"), py::arg("unit"), py::arg("rate"))
      .def("succeed", &HeldStrengths::succeed,
           "Let the first `hits` slots succeed in place; return all as they were, as ebb::Trace.",
           py::arg("slots"), py::arg("similarity"), py::arg("hits"), py::arg("now"),
           py::arg("gain"), py::arg("evidence") = py::none(), py::arg("refractory") = 0);
}

}  // namespace ebb::bindings
