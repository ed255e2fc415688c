#include <pybind11/pybind11.h>

#include <optional>
#include <utility>
#include <vector>

#include "bindings/arguments.h"
#include "bindings/crews.h"
#include "bindings/found_products.h"
#include "bindings/numpy_views.h"
#include "bindings/one_text.h"
#include "bindings/ranking.h"
#include "bindings/released.h"
#include "bindings/topics.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

// The memories of a scope, held as they are, and what may be found of them.
class HeldProducts {
 public:
  // The vectors and what fades outlive this: the binding keeps them.
  HeldProducts(const WordVectors& vectors, const Fading& fading, py::object importance,
               py::object created, py::object mask, const py::object& unit)
      : vectors_(vectors),
        fading_(fading),
        importance_(std::move(importance)),
        created_(std::move(created)),
        mask_(std::move(mask)),
        weights_(vector_view<double>(importance_, "importance")),
        since_(vector_view<std::int64_t>(created_, "created_us", weights_.size)),
        allowed_(optional_view<Truth>(mask_, "mask")),
        unit_(static_cast<double>(checked_count(unit, "unit_us", 1))) {}

  FoundProducts best(const py::object& buckets, const py::object& counts, const py::object& now,
                     const py::object& rate, const py::object& k) const {
    const OneText query(buckets, counts);
    const Moment moment = moment_of(now, rate);
    const std::size_t most = checked_count(k, "k", 1);
    return FoundProducts(released([&] { return ranking(query, moment, most); }));
  }

  ProductRanking ranking(const OneText& query, const Moment& moment, std::size_t k) const {
    Selection selection;
    selection.newness = since_;
    selection.mask = allowed_;
    selection.k = k;
    const ProductColumns columns{weights_, {since_, moment.now_us, unit_}};
    return top_products(vectors_, query.counts(), fading_, moment, selection, columns);
  }

 private:
  const WordVectors& vectors_;
  const Fading& fading_;
  py::object importance_;
  py::object created_;
  py::object mask_;
  Span<const double> weights_;
  Span<const std::int64_t> since_;
  std::optional<Span<const Truth>> allowed_;
  double unit_;
};

// Each question: who is asked, and a text's buckets and counts.
py::list best_of_many(const py::object& questions, const py::object& now, const py::object& rate,
                      const py::object& k, const py::object& threads, const py::object& workers) {
  const Crew crew = crew_of(threads, workers);
  const Moment moment = moment_of(now, rate);
  const std::size_t most = checked_count(k, "k", 1);
  // Tuples, which nobody changes meanwhile.
  const auto held = py::reinterpret_steal<py::tuple>(PySequence_Tuple(questions.ptr()));
  if (!held) throw py::error_already_set();
  std::vector<const HeldProducts*> asked;
  std::vector<OneText> texts;
  for (const py::handle one : held) {
    if (!py::isinstance<py::tuple>(one) || py::len(one) != 3) {
      raise_type("questions", "tuples of products, buckets and counts", py::repr(one));
    }
    const auto question = py::reinterpret_borrow<py::tuple>(one);
    if (!py::isinstance<HeldProducts>(question[0])) {
      raise_type("questions", "tuples of products, buckets and counts", py::repr(one));
    }
    asked.push_back(&question[0].cast<const HeldProducts&>());
    texts.emplace_back(question[1], question[2]);
  }
  std::vector<ProductRanking> found(asked.size());
  released([&] {
    crew.run(asked.size(),
             [&](std::size_t i) { found[i] = asked[i]->ranking(texts[i], moment, most); });
  });
  py::list all;
  for (ProductRanking& one : found) all.append(FoundProducts(std::move(one)));
  return all;
}

template <typename T>
py::list listed(const std::vector<T>& values) {
  py::list list(values.size());
  Py_ssize_t i = 0;
  for (const T& value : values) {
    py::object number = py::cast(value);
    if (!number) throw py::error_already_set();
    PyList_SET_ITEM(list.ptr(), i++, number.release().ptr());
  }
  return list;
}

// What a dict has for each slot, or None where it has nothing for one of them.
py::object values_of(const FoundProducts& found, const py::dict& by_slot) {
  py::tuple values(found.size());
  Py_ssize_t i = 0;
  for (const std::int64_t slot : found.ranking().slots) {
    const py::int_ key(slot);
    PyObject* const value = PyDict_GetItemWithError(by_slot.ptr(), key.ptr());
    if (value == nullptr) {
      if (PyErr_Occurred() != nullptr) throw py::error_already_set();
      return py::none();
    }
    Py_INCREF(value);
    PyTuple_SET_ITEM(values.ptr(), i++, value);
  }
  return values;
}

template <typename T>
auto column(std::vector<T> ProductRanking::*values) {
  return [values](const FoundProducts& found) { return copied(found.ranking().*values); };
}

}  // namespace

void bind_products(py::module_& m) {
  py::class_<FoundProducts>(m, "FoundProducts", "The best by a product, best first.")
      .def("__len__", &FoundProducts::size, "How many were found.")
      .def("values_of", &values_of, "What a dict has for each slot; None where it lacks one.",
           py::arg("by_slot"))
      .def_property_readonly("slots", column(&ProductRanking::slots))
      .def_property_readonly("cosines", column(&ProductRanking::cosines))
      .def_property_readonly("nearness", column(&ProductRanking::nearness))
      .def_property_readonly("importance", column(&ProductRanking::importance))
      .def_property_readonly("retained", column(&ProductRanking::retained))
      .def_property_readonly("slot_list",
                             [](const FoundProducts& f) { return listed(f.ranking().slots); })
      .def_property_readonly("scores",
                             [](const FoundProducts& f) { return listed(f.ranking().scores); });
  py::class_<HeldProducts>(m, "Products", "Memories by slot, to be ranked by a product.")
      .def(py::init<const WordVectors&, const Fading&, py::object, py::object, py::object,
                    const py::object&>(),
           py::keep_alive<1, 2>(), py::keep_alive<1, 3>(), py::arg("vectors"), py::arg("fading"),
           py::arg("importance"), py::arg("created_us"), py::arg("mask"), py::arg("unit_us"))
      .def("best", &HeldProducts::best, "The best by a product for one text's counts.",
           py::arg("buckets"), py::arg("counts"), py::arg("now_us"), py::arg("rate"), py::arg("k"));
  m.def("best_products", &best_of_many,
        "What `Products.best` finds for each (products, buckets, counts), in one call.",
        py::arg("questions"), py::arg("now_us"), py::arg("rate"), py::arg("k"), py::arg("threads"),
        py::arg("workers") = py::none());
}

}  // namespace ebb::bindings
