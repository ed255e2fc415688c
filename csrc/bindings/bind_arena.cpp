#include <pybind11/pybind11.h>

#include <memory>
#include <utility>

#include "bindings/arguments.h"
#include "bindings/compaction.h"
#include "bindings/numpy_views.h"
#include "bindings/released.h"
#include "bindings/topics.h"
#include "core/arena.h"
#include "core/finite.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

std::unique_ptr<Arena> make(const py::object& dim) {
  return std::make_unique<Arena>(checked_count(dim, "dim", 1));
}

std::size_t append(Arena& arena, const py::object& rows) {
  const py::array array = checked_array<float>(rows, "rows", 2);
  const auto count = static_cast<std::size_t>(array.shape(0));
  const auto dim = static_cast<std::size_t>(array.shape(1));
  if (dim != arena.dim()) {
    throw ShapeError("rows", std::to_string(arena.dim()) + " columns", std::to_string(dim));
  }
  const Span<const float> values{static_cast<const float*>(array.data()), count * dim};
  const py::gil_scoped_release nogil;
  check_finite(values, "rows");
  return arena.append(values.data, count);
}

void overwrite(Arena& arena, const py::object& slot, const py::object& row) {
  const std::int64_t number = checked_slot(slot, "slot");
  const Span<const float> values = vector_view<float>(row, "row", arena.dim());
  const py::gil_scoped_release nogil;
  check_finite(values, "row");
  arena.overwrite(number, values.data);
}

std::size_t tombstone(Arena& arena, const py::object& slots) {
  const CopiedSlots numbers(slots, "slots");
  const py::gil_scoped_release nogil;
  return arena.tombstone(numbers);
}

py::array_t<float> copy_rows(const Arena& arena, const py::object& slots) {
  const CopiedSlots numbers(slots, "slots");
  py::array_t<float> out({numbers.size(), arena.dim()});
  float* const data = out.mutable_data();
  {
    const py::gil_scoped_release nogil;
    arena.copy_rows(numbers, data);
  }
  return out;
}

}  // namespace

void bind_arena(py::module_& m) {
  py::class_<Arena>(m, "Arena", "Rows of float32 by slot; one writer, many readers.")
      .def(py::init(&make), py::arg("dim"))
      .def("append", &append, py::arg("rows"), "Copy rows to new slots; return the first of them.")
      .def("overwrite", &overwrite, py::arg("slot"), py::arg("row"), "Replace a live row.")
      .def("tombstone", &tombstone, py::arg("slots"),
           "Kill rows and zero them; return how many were live.")
      .def("compact", &compacted<Arena>,
           "Close the gaps; return the new slot of each old one, -1 if gone.")
      .def("copy_rows", &copy_rows, py::arg("slots"),
           "Return copies of rows; a dead one reads as zeros.")
      .def_property_readonly("dim", &Arena::dim, "Floats per row.")
      .def_property_readonly("size", released_getter(&Arena::size),
                             "Slots handed out, dead included.")
      .def_property_readonly("live", released_getter(&Arena::live), "Rows that are not dead.")
      .def_property_readonly("generation", released_getter(&Arena::generation), "Times compacted.")
      .def_property_readonly("bytes", released_getter(&Arena::bytes), "Memory reserved.");
}

}  // namespace ebb::bindings
