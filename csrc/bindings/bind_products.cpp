#include <pybind11/pybind11.h>

#include <optional>
#include <utility>

#include "bindings/arguments.h"
#include "bindings/numpy_views.h"
#include "bindings/one_text.h"
#include "bindings/ranking.h"
#include "bindings/released.h"
#include "bindings/topics.h"
#include "core/product_ranking.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

// The columns of a scope, held as they are, and what may be found of it.
class HeldProducts {
 public:
  HeldProducts(py::object importance, py::object created, py::object mask, const py::object& unit)
      : importance_(std::move(importance)),
        created_(std::move(created)),
        mask_(std::move(mask)),
        weights_(vector_view<double>(importance_, "importance")),
        since_(vector_view<std::int64_t>(created_, "created_us", weights_.size)),
        allowed_(optional_view<bool>(mask_, "mask")),
        unit_(static_cast<double>(checked_count(unit, "unit_us", 1))) {}

  py::tuple best(const WordVectors& vectors, const py::object& buckets, const py::object& counts,
                 const Fading& fading, const py::object& now, const py::object& rate,
                 const py::object& k) const {
    const OneText query(buckets, counts);
    const Moment moment = moment_of(now, rate);
    const ProductColumns columns{weights_, {since_, moment.now_us, unit_}};
    Selection selection;
    selection.newness = since_;
    selection.mask = allowed_;
    selection.k = checked_count(k, "k", 1);
    const ProductRanking found = released(
        [&] { return top_products(vectors, query.counts(), fading, moment, selection, columns); });
    return py::make_tuple(copied(found.slots), copied(found.cosines), copied(found.nearness),
                          copied(found.importance), copied(found.retained), copied(found.scores));
  }

 private:
  py::object importance_;
  py::object created_;
  py::object mask_;
  Span<const double> weights_;
  Span<const std::int64_t> since_;
  std::optional<Span<const bool>> allowed_;
  double unit_;
};

}  // namespace

void bind_products(py::module_& m) {
  py::class_<HeldProducts>(m, "Products", "Memories by slot, to be ranked by a product.")
      .def(py::init<py::object, py::object, py::object, const py::object&>(), py::arg("importance"),
           py::arg("created_us"), py::arg("mask"), py::arg("unit_us"))
      .def("best", &HeldProducts::best,
           "Best slots, their cosines, the terms of their scores, and the scores.",
           py::arg("vectors"), py::arg("buckets"), py::arg("counts"), py::arg("fading"),
           py::arg("now_us"), py::arg("rate"), py::arg("k"));
}

}  // namespace ebb::bindings
