#include <pybind11/pybind11.h>

#include <functional>
#include <utility>
#include <vector>

#include "bindings/arguments.h"
#include "bindings/bm25_arguments.h"
#include "bindings/crews.h"
#include "bindings/numpy_views.h"
#include "bindings/one_text.h"
#include "bindings/ranking.h"
#include "bindings/released.h"
#include "bindings/topics.h"
#include "core/faded_scan.h"
#include "core/searches.h"
#include "core/word_scan.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

// Searches, and what they look at.
class HeldSearches {
 public:
  template <typename... Objects>
  void add(std::function<Ranking()> search, const Objects&... held) {
    (held_.push_back(held), ...);
    searches_.add(std::move(search));
  }

  std::size_t size() const { return searches_.size(); }

  // What is added meanwhile, by another thread, waits for the next run.
  py::tuple run(const py::object& threads, const py::object& workers) {
    const Crew crew = crew_of(threads, workers);
    const std::vector<py::object> held = std::exchange(held_, {});
    const Searches searches = std::exchange(searches_, {});
    Rankings found = released([&] { return searches.run(crew); });
    return py::make_tuple(to_numpy(std::move(found.slots)), to_numpy(std::move(found.values)),
                          to_numpy(std::move(found.ends)));
  }

 private:
  std::vector<py::object> held_;
  Searches searches_;
};

Ranking by_dot(Ranked found) {
  return {std::move(found.slots), {found.dots.begin(), found.dots.end()}};
}

Ranking by_cosine(RankedWords found) { return {std::move(found.slots), std::move(found.cosines)}; }

void add_bm25(HeldSearches& searches, const Postings& index, const py::object& terms,
              const py::object& k1, const py::object& b, const py::object& newness,
              const py::object& mask, const py::object& k, const py::object& limit,
              const py::object& count, const py::object& share, const py::object& spare) {
  const auto ids = vector_view<std::uint64_t>(terms, "terms");
  Bm25Query query = query_of(rule_of(k1, b), newness, mask, k, limit);
  query.near = near_of(count, share, spare);
  const auto search = [&index, ids, query] {
    RankedTexts found = index.top(ids, query);
    return Ranking{std::move(found.slots), std::move(found.scores)};
  };
  searches.add(search, py::cast(&index), terms, newness, mask);
}

void add_words_affine(HeldSearches& searches, const WordVectors& words, const py::object& buckets,
                      const py::object& counts, const py::object& mul, const py::object& add,
                      const py::object& newness, const py::object& mask, const py::object& k) {
  const OneText query(buckets, counts);
  const Column mul_column = optional_view<double>(mul, "mul");
  const Column add_column = optional_view<double>(add, "add");
  const Selection selection = selection_of(newness, mask, k);
  const auto search = [=, &words] {
    return by_cosine(top_affine(words, query.counts(), mul_column, add_column, selection));
  };
  searches.add(search, py::cast(&words), buckets, counts, mul, add, newness, mask);
}

void add_affine(HeldSearches& searches, const Arena& vectors, const py::object& query,
                const py::object& mul, const py::object& add, const py::object& newness,
                const py::object& mask, const py::object& k) {
  const QueryBatch one = one_query(query);
  const Column mul_column = optional_view<double>(mul, "mul");
  const Column add_column = optional_view<double>(add, "add");
  const Selection selection = selection_of(newness, mask, k);
  const auto search = [=, &vectors] {
    return by_dot(top_affine(vectors, one, mul_column, add_column, selection));
  };
  searches.add(search, py::cast(&vectors), query, mul, add, newness, mask);
}

void add_faded(HeldSearches& searches, const Arena& vectors, const Fading& lines,
               const py::object& query, const py::object& now_us, const py::object& rate,
               const py::object& newness, const py::object& mask, const py::object& k) {
  const QueryBatch one = one_query(query);
  const Moment moment = moment_of(now_us, rate);
  const Selection selection = selection_of(newness, mask, k);
  const auto search = [=, &vectors, &lines] {
    return by_dot(top_faded(vectors, lines, one, moment, selection));
  };
  searches.add(search, py::cast(&vectors), py::cast(&lines), query, newness, mask);
}

}  // namespace

void bind_searches(py::module_& m) {
  py::class_<HeldSearches>(m, "Searches", "Rankings of any indexes, to be made in one call.")
      .def(py::init<>())
      .def("__len__", &HeldSearches::size)
      .def("bm25", &add_bm25, "Add Postings.top_bm25, whose values are scores.",
           py::arg("postings"), py::arg("terms"), py::arg("k1"), py::arg("b"), py::arg("newness"),
           py::arg("mask"), py::arg("k"), py::arg("limit"), py::arg("count"), py::arg("share"),
           py::arg("spare"))
      .def("words_affine", &add_words_affine,
           "Add WordVectors.top_affine, whose values are cosines.", py::arg("vectors"),
           py::arg("buckets"), py::arg("counts"), py::arg("mul"), py::arg("add"),
           py::arg("newness"), py::arg("mask"), py::arg("k"))
      .def("affine", &add_affine, "Add top_affine of an arena, whose values are dots.",
           py::arg("arena"), py::arg("query"), py::arg("mul"), py::arg("add"), py::arg("newness"),
           py::arg("mask"), py::arg("k"))
      .def("faded", &add_faded, "Add top_faded of an arena, whose values are dots.",
           py::arg("arena"), py::arg("fading"), py::arg("query"), py::arg("now_us"),
           py::arg("rate"), py::arg("newness"), py::arg("mask"), py::arg("k"))
      .def("run", &HeldSearches::run, py::arg("threads"), py::arg("workers") = py::none(),
           "Make what was added: slots and values of all, best first, and the end of each.");
}

}  // namespace ebb::bindings
