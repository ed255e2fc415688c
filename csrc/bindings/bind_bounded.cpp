#include <pybind11/pybind11.h>

#include <array>
#include <vector>

#include "bindings/arguments.h"
#include "bindings/bm25_arguments.h"
#include "bindings/crews.h"
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

py::tuple told(const BoundedRanking& found) {
  return py::make_tuple(copied(found.slots), copied(found.scores), or_none(found.own_scores),
                        copied(found.familiarity), or_none(found.activation),
                        copied(found.retrievability), copied(found.retention));
}

// A ranking that is to be made, and what it looks at.
class AskedBounded {
 public:
  AskedBounded(const Postings& postings, const py::object& terms, const py::object& k1,
               const py::object& b, const py::object& slots, const py::object& bm25,
               const py::object& named, const py::object& mask, const py::object& reached,
               const py::object& activation, const py::object& importance,
               const py::object& strength, const py::object& intensity, const py::object& since,
               const py::object& newness, const py::object& now, const py::object& unit,
               const py::object& stability, const py::object& exponent, const py::object& lexical,
               const py::object& idf, const py::object& cascade, const py::object& floor,
               const py::object& weight, const py::object& most, const py::object& among,
               const py::object& near, bool past, const py::object& k)
      : postings_(postings),
        matched_(slots, "slots"),
        reached_(reached, "reached"),
        held_{terms,      bm25,     named,     mask,  activation,
              importance, strength, intensity, since, newness} {
    const auto allowed = vector_view<Truth>(mask, "mask");
    question_ = {vector_view<std::uint64_t>(terms, "terms"),
                 rule_of(k1, b),
                 matched_,
                 vector_view<double>(bm25, "bm25", matched_.size()),
                 vector_view<std::uint64_t>(named, "named"),
                 {allowed.data, allowed.size},
                 reached_,
                 vector_view<double>(activation, "activation", reached_.size())};
    const auto importances = vector_view<double>(importance, "importance");
    const std::size_t size = importances.size;
    columns_ = {{importances, vector_view<double>(strength, "strength", size),
                 vector_view<double>(intensity, "intensity", size)},
                {vector_view<std::int64_t>(since, "since_us", size), checked_integer(now, "now_us"),
                 static_cast<double>(checked_count(unit, "unit_us", 1))},
                vector_view<std::int64_t>(newness, "newness", size)};
    rule_ = {checked_number(lexical, "lexical"),
             checked_number(idf, "idf"),
             checked_number(cascade, "cascade"),
             checked_number(floor, "floor"),
             {checked_number(stability, "stability"), checked_number(exponent, "exponent")},
             {checked_number(weight, "weight"), checked_count(most, "most", 0)},
             {checked_count(among, "among", 0), checked_number(near, "near"), past},
             checked_count(k, "k", 1)};
  }
  AskedBounded(const AskedBounded&) = delete;
  AskedBounded& operator=(const AskedBounded&) = delete;

  py::tuple best() const {
    return told(released([&] { return ranking(); }));
  }

  BoundedRanking ranking() const { return postings_.top_bounded(question_, columns_, rule_); }

 private:
  const Postings& postings_;
  CopiedSlots matched_;
  CopiedSlots reached_;
  std::array<py::object, 10> held_;
  BoundedQuestion question_;
  RetainedColumns columns_;
  BoundedRule rule_;
};

py::list best_bounded(const py::object& questions, const py::object& threads,
                      const py::object& workers) {
  const Crew crew = crew_of(threads, workers);
  // A tuple of our own: nobody changes it meanwhile.
  const auto held = py::reinterpret_steal<py::tuple>(PySequence_Tuple(questions.ptr()));
  if (!held) throw py::error_already_set();
  std::vector<const AskedBounded*> asked;
  for (const py::handle one : held) {
    if (!py::isinstance<AskedBounded>(one)) raise_type("questions", "Bounded", py::repr(one));
    asked.push_back(&one.cast<const AskedBounded&>());
  }
  std::vector<BoundedRanking> found(asked.size());
  released([&] { crew.run(asked.size(), [&](std::size_t i) { found[i] = asked[i]->ranking(); }); });
  py::list all;
  for (const BoundedRanking& one : found) all.append(told(one));
  return all;
}

}  // namespace

void bind_bounded(py::module_& m) {
  using Object = const py::object&;
  py::class_<AskedBounded>(m, "Bounded", "A ranking by evidence * retention, to be made.")
      .def(py::init<const Postings&, Object, Object, Object, Object, Object, Object, Object, Object,
                    Object, Object, Object, Object, Object, Object, Object, Object, Object, Object,
                    Object, Object, Object, Object, Object, Object, Object, Object, bool, Object>(),
           py::keep_alive<1, 2>(), py::arg("postings"), py::arg("terms"), py::arg("k1"),
           py::arg("b"), py::arg("slots"), py::arg("bm25"), py::arg("named"), py::arg("mask"),
           py::arg("reached"), py::arg("activation"), py::arg("importance"), py::arg("strength"),
           py::arg("intensity"), py::arg("since_us"), py::arg("newness"), py::arg("now_us"),
           py::arg("unit_us"), py::arg("stability"), py::arg("exponent"), py::arg("lexical"),
           py::arg("idf"), py::arg("cascade"), py::arg("floor"), py::arg("weight"), py::arg("most"),
           py::arg("among"), py::arg("near"), py::arg("past"), py::arg("k"))
      .def("best", &AskedBounded::best,
           "Slots, scores, own scores (None: the same), familiarity, activation (None: none), R, "
           "retention.");
  m.def("best_bounded", &best_bounded, "What each of many questions' `best` tells, in one call.",
        py::arg("questions"), py::arg("threads"), py::arg("workers") = py::none());
}

}  // namespace ebb::bindings
