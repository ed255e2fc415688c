#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/arguments.h"
#include "bindings/compaction.h"
#include "bindings/numpy_views.h"
#include "bindings/ranking.h"
#include "bindings/released.h"
#include "bindings/topics.h"
#include "core/faded_scan.h"
#include "core/fading.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

std::unique_ptr<Fading> make(const py::object& unit_us) {
  return std::make_unique<Fading>(checked_integer(unit_us, "unit_us"));
}

FadingRows rows_of(const py::object& importance, const py::object& since_us, const py::object& pace,
                   std::size_t count) {
  return {vector_view<double>(importance, "importance", count),
          vector_view<std::int64_t>(since_us, "since_us", count),
          optional_view<double>(pace, "pace", count)};
}

// Lines as they are when the call begins: another thread may change the caller's arrays after they
// were checked.
class CopiedLines {
 public:
  explicit CopiedLines(const FadingRows& rows)
      : importance_(rows.importance.begin(), rows.importance.end()),
        since_us_(rows.since_us.begin(), rows.since_us.end()) {
    if (rows.pace) pace_.emplace(rows.pace->begin(), rows.pace->end());
  }

  FadingRows rows() const {
    FadingRows rows{
        {importance_.data(), importance_.size()}, {since_us_.data(), since_us_.size()}, {}};
    if (pace_) rows.pace = {pace_->data(), pace_->size()};
    return rows;
  }

 private:
  std::vector<double> importance_;
  std::vector<std::int64_t> since_us_;
  std::optional<std::vector<double>> pace_;
};

std::size_t append(Fading& fading, const py::object& importance, const py::object& since_us,
                   const py::object& pace) {
  const std::size_t count = vector_view<double>(importance, "importance").size;
  const CopiedLines lines(rows_of(importance, since_us, pace, count));
  const py::gil_scoped_release nogil;
  return fading.append(lines.rows());
}

void overwrite(Fading& fading, const py::object& slots, const py::object& importance,
               const py::object& since_us, const py::object& pace) {
  const CopiedSlots numbers(slots, "slots");
  const CopiedLines lines(rows_of(importance, since_us, pace, numbers.size()));
  const py::gil_scoped_release nogil;
  fading.overwrite(numbers, lines.rows());
}

std::size_t tombstone(Fading& fading, const py::object& slots) {
  const CopiedSlots numbers(slots, "slots");
  const py::gil_scoped_release nogil;
  return fading.tombstone(numbers);
}

py::array_t<double> log_weights_of(const Fading& fading, const py::object& slots,
                                   const py::object& now_us, const py::object& rate) {
  const CopiedSlots numbers(slots, "slots");
  const Moment moment = moment_of(now_us, rate);
  std::vector<double> weights;
  {
    const py::gil_scoped_release nogil;
    weights = fading.log_weights(numbers, moment);
  }
  return to_numpy(std::move(weights));
}

double bound(const Fading& fading, const py::object& first, const py::object& count,
             const py::object& now_us, const py::object& rate) {
  const std::size_t first_slot = checked_count(first, "first", 0);
  const std::size_t slots = checked_count(count, "count", 0);
  const Moment moment = moment_of(now_us, rate);
  const py::gil_scoped_release nogil;
  return fading.bound(first_slot, slots, moment);
}

Ranked faded(const Arena& arena, const Fading& fading, const QueryBatch& queries,
             const Moment& moment, const Selection& selection) {
  const py::gil_scoped_release nogil;
  return top_faded(arena, fading, queries, moment, selection);
}

py::tuple faded_one(const Arena& arena, const Fading& fading, const py::object& query,
                    const py::object& now_us, const py::object& rate, const py::object& newness,
                    const py::object& mask, const py::object& k) {
  return result_of_one(faded(arena, fading, one_query(query), moment_of(now_us, rate),
                             selection_of(newness, mask, k)));
}

py::tuple faded_many(const Arena& arena, const Fading& fading, const py::object& queries,
                     const py::object& now_us, const py::object& rate, const py::object& newness,
                     const py::object& mask, const py::object& k, const py::object& threads,
                     const py::object& workers) {
  return result_of_many(faded(arena, fading, query_rows(queries), moment_of(now_us, rate),
                              selection_of(newness, mask, k, crew_of(threads, workers))));
}

}  // namespace

void bind_fading(py::module_& m) {
  py::class_<Fading>(m, "Fading", "How each slot's weight falls with time.")
      .def(py::init(&make), py::arg("unit_us") = 1'000'000)
      .def("append", &append, py::arg("importance"), py::arg("since_us"),
           py::arg("pace") = py::none(), "Add slots; return the first of them.")
      .def("overwrite", &overwrite, py::arg("slots"), py::arg("importance"), py::arg("since_us"),
           py::arg("pace") = py::none(), "Give live slots new lines.")
      .def("tombstone", &tombstone, py::arg("slots"), "Kill slots; return how many were live.")
      .def("compact", &compacted<Fading>,
           "Close the gaps; return the new slot of each old one, -1 if gone.")
      .def("log_weights", &log_weights_of, py::arg("slots"), py::arg("now_us"), py::arg("rate"),
           "ln(importance) - rate * pace * age; minus infinity for the dead.")
      .def("bound", &bound, py::arg("first"), py::arg("count"), py::arg("now_us"), py::arg("rate"),
           "At least the log weight of each of some consecutive slots.")
      .def_property_readonly("size", released_getter(&Fading::size),
                             "Slots handed out, dead included.")
      .def_property_readonly("live", released_getter(&Fading::live), "Slots that are not dead.")
      .def_property_readonly("generation", released_getter(&Fading::generation), "Times compacted.")
      .def_property_readonly("bytes", released_getter(&Fading::bytes), "Memory reserved.");
  m.def("top_faded", &faded_one,
        "Best rows by log weight at a moment + ln((1 + dot) / 2): slots, scores, dots.",
        py::arg("arena"), py::arg("fading"), py::arg("query"), py::arg("now_us"), py::arg("rate"),
        py::arg("newness"), py::arg("mask"), py::arg("k"));
  m.def("top_faded_many", &faded_many, "The same for a batch of queries, and where each ends.",
        py::arg("arena"), py::arg("fading"), py::arg("queries"), py::arg("now_us"), py::arg("rate"),
        py::arg("newness"), py::arg("mask"), py::arg("k"), py::arg("threads") = 1,
        py::arg("workers") = py::none());
}

}  // namespace ebb::bindings
