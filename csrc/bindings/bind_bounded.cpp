#include <pybind11/pybind11.h>

#include "bindings/arguments.h"
#include "bindings/bm25_arguments.h"
#include "bindings/numpy_views.h"
#include "bindings/released.h"
#include "bindings/topics.h"
#include "core/postings.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

py::object or_none(const std::vector<double>& values) {
  return values.empty() ? py::object(py::none()) : copied(values);
}

py::tuple bounded(const Postings& postings, const py::object& terms, const py::object& k1,
                  const py::object& b, const py::object& slots, const py::object& bm25,
                  const py::object& named, const py::object& mask, const py::object& reached,
                  const py::object& activation, const py::object& importance,
                  const py::object& strength, const py::object& intensity, const py::object& since,
                  const py::object& newness, const py::object& now, const py::object& unit,
                  const py::object& stability, const py::object& exponent,
                  const py::object& lexical, const py::object& idf, const py::object& cascade,
                  const py::object& floor, const py::object& weight, const py::object& most,
                  const py::object& among, const py::object& near, bool past, const py::object& k) {
  const CopiedSlots matched(slots, "slots");
  const auto allowed = vector_view<bool>(mask, "mask");
  const CopiedSlots links(reached, "reached");
  const BoundedQuestion question{vector_view<std::uint64_t>(terms, "terms"),
                                 rule_of(k1, b),
                                 matched,
                                 vector_view<double>(bm25, "bm25", matched.size()),
                                 vector_view<std::uint64_t>(named, "named"),
                                 {allowed.data, allowed.size},
                                 links,
                                 vector_view<double>(activation, "activation", links.size())};
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
      checked_number(cascade, "cascade"),
      checked_number(floor, "floor"),
      {checked_number(stability, "stability"), checked_number(exponent, "exponent")},
      {checked_number(weight, "weight"), checked_count(most, "most", 0)},
      {checked_count(among, "among", 0), checked_number(near, "near"), past},
      checked_count(k, "k", 1)};
  const BoundedRanking found =
      released([&] { return postings.top_bounded(question, columns, rule); });
  return py::make_tuple(copied(found.slots), copied(found.scores), or_none(found.own_scores),
                        copied(found.familiarity), or_none(found.activation),
                        copied(found.retrievability), copied(found.retention));
}

}  // namespace

void bind_bounded(py::module_& m) {
  m.def("top_bounded", &bounded,
        "Best matches by evidence * retention: slots, scores, own scores (None: the same), "
        "familiarity, activation (None: none), R, retention.",
        py::arg("postings"), py::arg("terms"), py::arg("k1"), py::arg("b"), py::arg("slots"),
        py::arg("bm25"), py::arg("named"), py::arg("mask"), py::arg("reached"),
        py::arg("activation"), py::arg("importance"), py::arg("strength"), py::arg("intensity"),
        py::arg("since_us"), py::arg("newness"), py::arg("now_us"), py::arg("unit_us"),
        py::arg("stability"), py::arg("exponent"), py::arg("lexical"), py::arg("idf"),
        py::arg("cascade"), py::arg("floor"), py::arg("weight"), py::arg("most"), py::arg("among"),
        py::arg("near"), py::arg("past"), py::arg("k"));
}

}  // namespace ebb::bindings
