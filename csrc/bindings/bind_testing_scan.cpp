// _core._testing: the scan with its way prescribed.
#include <pybind11/pybind11.h>

#include <string>
#include <utility>

#include "bindings/arguments.h"
#include "bindings/numpy_views.h"
#include "bindings/topics.h"
#include "core/scan.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

QueryBatch query_rows(const py::object& queries) {
  const py::array array = checked_array<float>(queries, "queries", 2);
  return {static_cast<const float*>(array.data()), static_cast<std::size_t>(array.shape(0)),
          static_cast<std::size_t>(array.shape(1))};
}

Selection selection_of(const py::object& newness, const py::object& mask, const py::object& k,
                       int stages) {
  return {optional_view<std::int64_t>(newness, "newness"), optional_view<Truth>(mask, "mask"),
          checked_count(k, "k", 1), stages == 1 ? Stages::kOne : Stages::kTwo, Crew{}};
}

py::tuple listed(Ranked ranked) {
  return py::make_tuple(to_numpy(std::move(ranked.slots)), to_numpy(std::move(ranked.scores)),
                        to_numpy(std::move(ranked.dots)), to_numpy(std::move(ranked.ends)));
}

py::tuple affine(int stages, const Arena& arena, const py::object& queries, const py::object& mul,
                 const py::object& add, const py::object& newness, const py::object& mask,
                 const py::object& k) {
  const QueryBatch batch = query_rows(queries);
  const Column mul_column = optional_view<double>(mul, "mul");
  const Column add_column = optional_view<double>(add, "add");
  const Selection selection = selection_of(newness, mask, k, stages);
  Ranked ranked;
  {
    const py::gil_scoped_release nogil;
    ranked = top_affine(arena, batch, mul_column, add_column, selection);
  }
  return listed(std::move(ranked));
}

py::tuple product(int stages, const Arena& arena, const py::object& queries,
                  const py::object& log_weight, const py::object& newness, const py::object& mask,
                  const py::object& k) {
  const QueryBatch batch = query_rows(queries);
  const Span<const double> column = vector_view<double>(log_weight, "log_weight");
  const Selection selection = selection_of(newness, mask, k, stages);
  Ranked ranked;
  {
    const py::gil_scoped_release nogil;
    ranked = top_product(arena, batch, column, selection);
  }
  return listed(std::move(ranked));
}

}  // namespace

void bind_testing_scan(py::module_& testing) {
  testing.def("top_affine_many", &affine, py::arg("stages"), py::arg("arena"), py::arg("queries"),
              py::arg("mul"), py::arg("add"), py::arg("newness"), py::arg("mask"), py::arg("k"));
  testing.def("top_product_many", &product, py::arg("stages"), py::arg("arena"), py::arg("queries"),
              py::arg("log_weight"), py::arg("newness"), py::arg("mask"), py::arg("k"));
}

}  // namespace ebb::bindings
