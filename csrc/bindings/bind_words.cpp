#include <pybind11/pybind11.h>

#include <memory>
#include <utility>

#include "bindings/arguments.h"
#include "bindings/compaction.h"
#include "bindings/numpy_views.h"
#include "bindings/one_text.h"
#include "bindings/ranking.h"
#include "bindings/released.h"
#include "bindings/topics.h"
#include "core/word_scan.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

std::unique_ptr<WordVectors> make(const py::object& dim) {
  return std::make_unique<WordVectors>(checked_count(dim, "dim", 1));
}

std::size_t append(WordVectors& vectors, const py::object& buckets, const py::object& counts,
                   const py::object& ends) {
  const Copied<std::uint32_t> in_buckets(buckets, "buckets");
  const Copied<std::int32_t> how_often(counts, "counts");
  const Copied<std::int64_t> text_ends(ends, "text_ends");
  const WordCounts texts{in_buckets, how_often, text_ends};
  const py::gil_scoped_release nogil;
  return vectors.append(texts);
}

void overwrite(WordVectors& vectors, const py::object& slot, const py::object& buckets,
               const py::object& counts) {
  const std::int64_t number = checked_slot(slot, "slot");
  const OneText text(buckets, counts);
  const py::gil_scoped_release nogil;
  vectors.overwrite(number, text.counts());
}

std::size_t tombstone(WordVectors& vectors, const py::object& slots) {
  const CopiedSlots numbers(slots, "slots");
  const py::gil_scoped_release nogil;
  return vectors.tombstone(numbers);
}

py::tuple result_of(RankedWords ranked) {
  return py::make_tuple(to_numpy(std::move(ranked.slots)), to_numpy(std::move(ranked.scores)),
                        to_numpy(std::move(ranked.cosines)));
}

// Runs `rank` without the interpreter's lock.
template <typename Rank>
py::tuple ranked(Rank rank) {
  RankedWords found;
  {
    const py::gil_scoped_release nogil;
    found = rank();
  }
  return result_of(std::move(found));
}

py::tuple affine(const WordVectors& vectors, const py::object& buckets, const py::object& counts,
                 const py::object& mul, const py::object& add, const py::object& newness,
                 const py::object& mask, const py::object& k) {
  const OneText query(buckets, counts);
  const Column mul_column = optional_view<double>(mul, "mul");
  const Column add_column = optional_view<double>(add, "add");
  const Selection selection = selection_of(newness, mask, k);
  return ranked(
      [&] { return top_affine(vectors, query.counts(), mul_column, add_column, selection); });
}

py::tuple product(const WordVectors& vectors, const py::object& buckets, const py::object& counts,
                  const py::object& log_weight, const py::object& newness, const py::object& mask,
                  const py::object& k) {
  const OneText query(buckets, counts);
  const Span<const double> column = vector_view<double>(log_weight, "log_weight");
  const Selection selection = selection_of(newness, mask, k);
  return ranked([&] { return top_product(vectors, query.counts(), column, selection); });
}

py::tuple faded(const WordVectors& vectors, const py::object& buckets, const py::object& counts,
                const Fading& fading, const py::object& now_us, const py::object& rate,
                const py::object& newness, const py::object& mask, const py::object& k) {
  const OneText query(buckets, counts);
  const Moment moment = moment_of(now_us, rate);
  const Selection selection = selection_of(newness, mask, k);
  return ranked([&] { return top_faded(vectors, query.counts(), fading, moment, selection); });
}

py::array_t<double> cosines_with(const WordVectors& vectors, const py::object& buckets,
                                 const py::object& counts, const py::object& slots) {
  const OneText query(buckets, counts);
  const CopiedSlots numbers(slots, "slots");
  std::vector<double> found;
  {
    const py::gil_scoped_release nogil;
    found = cosines(vectors, query.counts(), numbers);
  }
  return to_numpy(std::move(found));
}

}  // namespace

void bind_words(py::module_& m) {
  py::class_<WordVectors>(m, "WordVectors", "Word-hash vectors by slot, inverted; never dense.")
      .def(py::init(&make), py::arg("dim"))
      .def("append", &append, py::arg("buckets"), py::arg("counts"), py::arg("text_ends"),
           "Give each text the next slot and return the first of them; all or nothing.")
      .def("overwrite", &overwrite, py::arg("slot"), py::arg("buckets"), py::arg("counts"),
           "Replace a live vector.")
      .def("tombstone", &tombstone, py::arg("slots"), "Kill vectors; return how many were live.")
      .def("compact", &compacted<WordVectors>,
           "Close the gaps; return the new slot of each old one, -1 if gone.")
      .def("top_affine", &affine, py::arg("buckets"), py::arg("counts"), py::arg("mul"),
           py::arg("add"), py::arg("newness"), py::arg("mask"), py::arg("k"),
           "Best vectors by mul * cosine + add: slots, scores, cosines.")
      .def("top_product", &product, py::arg("buckets"), py::arg("counts"), py::arg("log_weight"),
           py::arg("newness"), py::arg("mask"), py::arg("k"),
           "Best vectors by log_weight + ln((1 + cosine) / 2): slots, scores, cosines.")
      .def("top_faded", &faded, py::arg("buckets"), py::arg("counts"), py::arg("fading"),
           py::arg("now_us"), py::arg("rate"), py::arg("newness"), py::arg("mask"), py::arg("k"),
           "The same with the log weights of `fading` at that moment: slots, scores, cosines.")
      .def("cosines", &cosines_with, py::arg("buckets"), py::arg("counts"), py::arg("slots"),
           "Cosines of a text with some vectors; 0 for dead ones.")
      .def_property_readonly("dim", &WordVectors::dim, "Number of buckets.")
      .def_property_readonly("size", released_getter(&WordVectors::size),
                             "Slots handed out, dead included.")
      .def_property_readonly("live", released_getter(&WordVectors::live),
                             "Vectors that are not dead.")
      .def_property_readonly("generation", released_getter(&WordVectors::generation),
                             "Times compacted.")
      .def_property_readonly("bytes", released_getter(&WordVectors::bytes),
                             "Memory held, in bytes.");
}

}  // namespace ebb::bindings
