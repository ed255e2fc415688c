#include <pybind11/pybind11.h>

#include <utility>

#include "bindings/arguments.h"
#include "bindings/numpy_views.h"
#include "bindings/ranking.h"
#include "bindings/topics.h"
#include "core/scan.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

Ranked affine(const Arena& arena, const QueryBatch& queries, const py::object& mul,
              const py::object& add, const Selection& selection) {
  const Column mul_column = optional_view<double>(mul, "mul");
  const Column add_column = optional_view<double>(add, "add");
  const py::gil_scoped_release nogil;
  return top_affine(arena, queries, mul_column, add_column, selection);
}

Ranked product(const Arena& arena, const QueryBatch& queries, const py::object& log_weight,
               const Selection& selection) {
  const Span<const double> column = vector_view<double>(log_weight, "log_weight");
  const py::gil_scoped_release nogil;
  return top_product(arena, queries, column, selection);
}

py::tuple affine_one(const Arena& arena, const py::object& query, const py::object& mul,
                     const py::object& add, const py::object& newness, const py::object& mask,
                     const py::object& k) {
  return result_of_one(affine(arena, one_query(query), mul, add, selection_of(newness, mask, k)));
}

py::tuple affine_many(const Arena& arena, const py::object& queries, const py::object& mul,
                      const py::object& add, const py::object& newness, const py::object& mask,
                      const py::object& k, const py::object& threads, const py::object& workers) {
  return result_of_many(affine(arena, query_rows(queries), mul, add,
                               selection_of(newness, mask, k, crew_of(threads, workers))));
}

py::tuple product_one(const Arena& arena, const py::object& query, const py::object& log_weight,
                      const py::object& newness, const py::object& mask, const py::object& k) {
  return result_of_one(
      product(arena, one_query(query), log_weight, selection_of(newness, mask, k)));
}

py::tuple product_many(const Arena& arena, const py::object& queries, const py::object& log_weight,
                       const py::object& newness, const py::object& mask, const py::object& k,
                       const py::object& threads, const py::object& workers) {
  return result_of_many(product(arena, query_rows(queries), log_weight,
                                selection_of(newness, mask, k, crew_of(threads, workers))));
}

py::array_t<float> dots_with(const Arena& arena, const py::object& query, const py::object& slots) {
  const QueryBatch batch = one_query(query);
  const CopiedSlots numbers(slots, "slots");
  std::vector<float> result;
  {
    const py::gil_scoped_release nogil;
    result = dots(arena, batch, numbers);
  }
  return to_numpy(std::move(result));
}

}  // namespace

void bind_scan(py::module_& m) {
  m.def("top_affine", &affine_one, "Best rows by mul * dot + add: slots, scores, dots.",
        py::arg("arena"), py::arg("query"), py::arg("mul"), py::arg("add"), py::arg("newness"),
        py::arg("mask"), py::arg("k"));
  m.def("top_affine_many", &affine_many, "The same for a batch of queries, and where each ends.",
        py::arg("arena"), py::arg("queries"), py::arg("mul"), py::arg("add"), py::arg("newness"),
        py::arg("mask"), py::arg("k"), py::arg("threads") = 1, py::arg("workers") = py::none());
  m.def("top_product", &product_one,
        "Best rows by log_weight + ln((1 + dot) / 2): slots, scores, dots.", py::arg("arena"),
        py::arg("query"), py::arg("log_weight"), py::arg("newness"), py::arg("mask"), py::arg("k"));
  m.def("top_product_many", &product_many, "The same for a batch of queries, and where each ends.",
        py::arg("arena"), py::arg("queries"), py::arg("log_weight"), py::arg("newness"),
        py::arg("mask"), py::arg("k"), py::arg("threads") = 1, py::arg("workers") = py::none());
  m.def("dots", &dots_with, "Dots of a query with some rows, clamped to [-1, 1].", py::arg("arena"),
        py::arg("query"), py::arg("slots"));
}

}  // namespace ebb::bindings
