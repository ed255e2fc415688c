#include <pybind11/pybind11.h>

#include "bindings/arguments.h"
#include "bindings/bm25_arguments.h"
#include "bindings/compaction.h"
#include "bindings/numpy_views.h"
#include "bindings/released.h"
#include "bindings/topics.h"
#include "core/postings.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

std::size_t append(Postings& postings, const py::object& term_ids, const py::object& text_ends) {
  const auto ids = vector_view<std::uint64_t>(term_ids, "term_ids");
  const CopiedSlots ends(text_ends, "text_ends");
  return released([&] { return postings.append(ids, ends); });
}

std::size_t tombstone(Postings& postings, const py::object& slots) {
  const CopiedSlots dead(slots, "slots");
  return released([&] { return postings.tombstone(dead); });
}

py::array_t<std::int64_t> document_frequency(const Postings& postings, const py::object& terms) {
  const auto ids = vector_view<std::uint64_t>(terms, "terms");
  return to_numpy(released([&] { return postings.document_frequency(ids); }));
}

py::array_t<double> idf(const Postings& postings, const py::object& terms) {
  const auto ids = vector_view<std::uint64_t>(terms, "terms");
  return to_numpy(released([&] { return postings.idf(ids); }));
}

py::tuple top_bm25(const Postings& postings, const py::object& terms, const py::object& k1,
                   const py::object& b, const py::object& newness, const py::object& mask,
                   const py::object& k, const py::object& limit, const py::object& count,
                   const py::object& share, const py::object& spare) {
  const auto ids = vector_view<std::uint64_t>(terms, "terms");
  Bm25Query query = query_of(rule_of(k1, b), newness, mask, k, limit);
  query.near = near_of(count, share, spare);
  RankedTexts out = released([&] { return postings.top(ids, query); });
  return py::make_tuple(to_numpy(std::move(out.slots)), to_numpy(std::move(out.scores)));
}

py::array_t<double> bm25(const Postings& postings, const py::object& terms, const py::object& k1,
                         const py::object& b, const py::object& slots) {
  const auto ids = vector_view<std::uint64_t>(terms, "terms");
  const CopiedSlots wanted(slots, "slots");
  const Bm25 rule = rule_of(k1, b);
  return to_numpy(released([&] { return postings.score(ids, rule, wanted); }));
}

py::tuple preceding(const Postings& postings, const py::object& terms, const py::object& slots,
                    const py::object& scores, const py::object& newness, const py::object& k,
                    const py::object& among, const py::object& near, bool past) {
  const auto cue = vector_view<std::uint64_t>(terms, "terms");
  const CopiedSlots found(slots, "slots");
  const Matches matches{found, vector_view<double>(scores, "scores"),
                        vector_view<std::int64_t>(newness, "newness")};
  const Precedence rule{checked_count(among, "among", 0), checked_number(near, "near"), past};
  const std::size_t most = checked_count(k, "k", 1);
  const PlacedMatches out = released([&] { return postings.preceding(cue, matches, most, rule); });
  return py::make_tuple(copied(out.matches), copied(out.scores));
}

py::tuple tied(const Postings& postings, const py::object& slot, const py::object& activation,
               const py::object& terms, const py::object& said, const py::object& mask,
               const py::object& weight, const py::object& most) {
  const TieSeed seed{checked_slot(slot, "slot"), checked_number(activation, "activation"),
                     vector_view<std::uint64_t>(terms, "terms")};
  const auto cue = vector_view<std::uint64_t>(said, "said");
  const auto allowed = vector_view<Truth>(mask, "mask");
  const TieRule rule{checked_number(weight, "weight"), checked_count(most, "most", 0)};
  Ties out = released([&] { return postings.tied(seed, cue, {allowed.data, allowed.size}, rule); });
  return py::make_tuple(to_numpy(std::move(out.slots)), to_numpy(std::move(out.activation)));
}

}  // namespace

void bind_postings(py::module_& m) {
  py::class_<Postings>(m, "Postings", "Which texts of one scope hold which terms.")
      .def(py::init<>())
      .def("append", &append, py::arg("term_ids"), py::arg("text_ends"),
           "Give each text the next slot and return the first of them; all or nothing.")
      .def("tombstone", &tombstone, py::arg("slots"),
           "Take texts out of every count at once and return how many were live.")
      .def("compact", &compacted<Postings>,
           "Renumber the live texts and return the new slot of each old one, or -1.")
      .def("__len__", [](const Postings& self) { return released([&] { return self.size(); }); })
      .def_property_readonly(
          "live", [](const Postings& self) { return released([&] { return self.live(); }); },
          "Number of texts that are not tombstones.")
      .def_property_readonly(
          "bytes", [](const Postings& self) { return released([&] { return self.bytes(); }); },
          "Memory held, in bytes.")
      .def("document_frequency", &document_frequency, py::arg("terms"),
           "Return the number of live texts that hold each term.")
      .def("idf", &idf, py::arg("terms"), "Return ln(1 + (N - n + 0.5) / (n + 0.5)) per term.")
      .def("top_bm25", &top_bm25, py::arg("terms"), py::arg("k1"), py::arg("b"), py::arg("newness"),
           py::arg("mask"), py::arg("k"), py::arg("limit") = py::none(), py::arg("count") = 0,
           py::arg("share") = 0.0, py::arg("spare") = 0.0,
           "Return slots and scores of the k best texts with a score above 0, best first; with a "
           "count only those of at least share * the count-th best score - spare.")
      .def("bm25", &bm25, py::arg("terms"), py::arg("k1"), py::arg("b"), py::arg("slots"),
           "Return the score of each slot; 0 where nothing matches and for tombstones.")
      .def("preceding", &preceding, py::arg("terms"), py::arg("slots"), py::arg("scores"),
           py::arg("newness"), py::arg("k"), py::arg("among"), py::arg("near"), py::arg("past"),
           "Return which matches stand at the k best places, and the scores of the places.")
      .def("tied", &tied, py::arg("slot"), py::arg("activation"), py::arg("terms"), py::arg("said"),
           py::arg("mask"), py::arg("weight"), py::arg("most"),
           "Return slots and activation of what shares a rare term with a text.");
}

}  // namespace ebb::bindings
