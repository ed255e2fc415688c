#include <pybind11/pybind11.h>

#include "bindings/arguments.h"
#include "bindings/numpy_views.h"
#include "bindings/topics.h"
#include "core/bounded_scores.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

// The GIL is kept: some microseconds of work on few slots.
py::tuple bounded(const py::object& slots, const py::object& bm25, const py::object& importance,
                  const py::object& strength, const py::object& intensity, const py::object& since,
                  const py::object& newness, const py::object& now, const py::object& unit,
                  const py::object& stability, const py::object& exponent,
                  const py::object& lexical, const py::object& idf, const py::object& floor,
                  const py::object& k) {
  const auto matched = vector_view<std::int64_t>(slots, "slots");
  const auto importances = vector_view<double>(importance, "importance");
  const std::size_t size = importances.size;
  const RetainedColumns columns{
      {importances, vector_view<double>(strength, "strength", size),
       vector_view<double>(intensity, "intensity", size)},
      {vector_view<std::int64_t>(since, "since_us", size), checked_integer(now, "now_us"),
       static_cast<double>(checked_count(unit, "unit_us", 1))},
      vector_view<std::int64_t>(newness, "newness", size)};
  const BoundedRule rule{
      checked_number(lexical, "lexical"),
      checked_number(idf, "idf"),
      checked_number(floor, "floor"),
      {checked_number(stability, "stability"), checked_number(exponent, "exponent")},
      checked_count(k, "k", 1)};
  const BoundedRanking found =
      top_bounded({matched, vector_view<double>(bm25, "bm25", matched.size)}, columns, rule);
  return py::make_tuple(copied(found.slots), copied(found.scores), copied(found.familiarity),
                        copied(found.retrievability), copied(found.retention));
}

}  // namespace

void bind_bounded(py::module_& m) {
  m.def("top_bounded", &bounded,
        "Best matches by familiarity * retention: slots, scores, familiarity, R, retention.",
        py::arg("slots"), py::arg("bm25"), py::arg("importance"), py::arg("strength"),
        py::arg("intensity"), py::arg("since_us"), py::arg("newness"), py::arg("now_us"),
        py::arg("unit_us"), py::arg("stability"), py::arg("exponent"), py::arg("lexical"),
        py::arg("idf"), py::arg("floor"), py::arg("k"));
}

}  // namespace ebb::bindings
