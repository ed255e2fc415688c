#include <pybind11/pybind11.h>
#include <structmember.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "bindings/numpy_views.h"
#include "bindings/topics.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

// A class whose instances `object.__new__` makes whole.
PyTypeObject* plain_class(const py::object& cls) {
  if (PyType_Check(cls.ptr()) != 0) {
    auto* const type = reinterpret_cast<PyTypeObject*>(cls.ptr());
    if (type->tp_new == PyBaseObject_Type.tp_new) return type;
  }
  raise_type("cls", "a class with object's __new__", py::repr(cls));
}

// How the instances of a class get one attribute.
class Setter {
 public:
  Setter(PyTypeObject* type, PyObject* name) : name_(name) {
    const auto found = py::reinterpret_steal<py::object>(
        PyObject_GetAttr(reinterpret_cast<PyObject*>(type), name));
    if (!found) PyErr_Clear();
    if (!found || Py_TYPE(found.ptr()) != &PyMemberDescr_Type) return;
    const auto* const member = reinterpret_cast<const PyMemberDescrObject*>(found.ptr());
    const bool plain = member->d_member->type == T_OBJECT_EX && member->d_member->flags == 0;
    if (plain && PyType_IsSubtype(type, member->d_common.d_type) != 0) {
      offset_ = member->d_member->offset;
    }
  }

  // Nobody else knows the object yet.
  void set(PyObject* object, PyObject* value) const {
    if (offset_ != 0) {
      auto* const slot = reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset_);
      Py_INCREF(value);
      Py_XDECREF(std::exchange(*slot, value));
    } else if (PyObject_GenericSetAttr(object, name_, value) != 0) {
      throw py::error_already_set();
    }
  }

 private:
  PyObject* name_;
  Py_ssize_t offset_ = 0;  // of a slot; 0: it is none
};

py::tuple tuple_of(const py::object& values) {
  auto tuple = py::reinterpret_steal<py::tuple>(PySequence_Tuple(values.ptr()));
  if (!tuple) throw py::error_already_set();
  return tuple;
}

py::tuple tuple_of(const py::object& values, std::size_t count, const char* argument) {
  py::tuple tuple = tuple_of(values);
  if (tuple.size() == count) return tuple;
  throw ShapeError(argument, std::to_string(count) + " values, one per row",
                   std::to_string(tuple.size()));
}

py::handle first_of(const py::handle& row) {
  if (PyTuple_Check(row.ptr()) != 0 && PyTuple_GET_SIZE(row.ptr()) > 0) {
    return PyTuple_GET_ITEM(row.ptr(), 0);
  }
  raise_type("rows", "tuples that are not empty", py::repr(row));
}

// What `object.__new__` and `object.__setattr__` do, for the attributes that are named. Python
// spends longer on calling them for the hits of a recall than on finding the hits.
class Maker {
 public:
  Maker(py::object cls, py::tuple names)
      : cls_(std::move(cls)), names_(std::move(names)), type_(plain_class(cls_)) {
    for (const py::handle name : names_) setters_.emplace_back(type_, name.ptr());
  }

  py::object one(const py::args& values) const {
    if (values.size() != setters_.size()) {
      throw ShapeError("values", "one for each of " + std::to_string(setters_.size()) + " names",
                       std::to_string(values.size()));
    }
    return made([&](std::size_t i) { return PyTuple_GET_ITEM(values.ptr(), index(i)); });
  }

  // A value per name.
  py::object of(std::initializer_list<py::handle> values) const {
    return made([&](std::size_t i) { return (values.begin() + i)->ptr(); });
  }

 private:
  static Py_ssize_t index(std::size_t i) { return static_cast<Py_ssize_t>(i); }

  template <typename Value>
  py::object made(Value value) const {
    // Not by the class, which may have got a __new__ since: its objects may have other slots.
    auto object =
        py::reinterpret_steal<py::object>(PyBaseObject_Type.tp_new(type_, nothing_.ptr(), nullptr));
    if (!object) throw py::error_already_set();
    for (std::size_t i = 0; i < setters_.size(); ++i) setters_[i].set(object.ptr(), value(i));
    return object;
  }

  py::object cls_;
  py::tuple names_;
  py::tuple nothing_;
  PyTypeObject* type_;
  std::vector<Setter> setters_;
};

// Makes the hits of a recall. All but their texts and scores is told by a source when it is read,
// by the place of the hit.
class HitMaker {
 public:
  explicit HitMaker(py::object hit)
      : hit_(std::move(hit), py::make_tuple("_source", "_key", "summary", "score")) {}

  // A hit per row, whose first item is its text.
  py::tuple made(const py::object& source, const py::object& rows, const py::object& scores) const {
    // Tuples of our own: nobody changes them while objects are made.
    const py::tuple texts = tuple_of(rows);
    const py::tuple values = tuple_of(scores, texts.size(), "scores");
    py::tuple hits(texts.size());
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(hits.ptr()); ++i) {
      const py::int_ place(i);
      const py::handle text = first_of(PyTuple_GET_ITEM(texts.ptr(), i));
      py::object hit = hit_.of({source, place, text, PyTuple_GET_ITEM(values.ptr(), i)});
      PyTuple_SET_ITEM(hits.ptr(), i, hit.release().ptr());
    }
    return hits;
  }

 private:
  Maker hit_;
};

}  // namespace

void bind_values(py::module_& m) {
  py::class_<Maker>(m, "Maker", "Makes objects of a class, past its __init__.")
      .def(py::init<py::object, py::tuple>(), py::arg("cls"), py::arg("names"))
      .def("one", &Maker::one, "An object: a value per name.");
  py::class_<HitMaker>(m, "HitMaker", "Makes the hits of a recall, past their __init__.")
      .def(py::init<py::object>(), py::arg("hit"))
      .def("made", &HitMaker::made, "A hit per row, whose first item is its text.",
           py::arg("source"), py::arg("rows"), py::arg("scores"));
}

}  // namespace ebb::bindings
