#include <pybind11/pybind11.h>
#include <structmember.h>

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

// What `object.__new__` and `object.__setattr__` do, for the attributes that are named. Python
// spends longer on calling them for the hits of a recall than on finding the hits.
class Maker {
 public:
  Maker(py::object cls, py::tuple names)
      : cls_(std::move(cls)), names_(std::move(names)), type_(plain_class(cls_)) {
    for (const py::handle name : names_) setters_.emplace_back(type_, name.ptr());
  }

  py::object one(const py::args& values) const {
    require(values.size(), "values");
    return made([&](std::size_t i) { return PyTuple_GET_ITEM(values.ptr(), index(i)); });
  }

  py::tuple many(const py::args& columns) const {
    require(columns.size(), "columns");
    std::vector<py::tuple> values;
    values.reserve(columns.size());
    for (const py::handle column : columns) {
      values.push_back(py::reinterpret_steal<py::tuple>(PySequence_Tuple(column.ptr())));
      if (!values.back()) throw py::error_already_set();
      if (values.back().size() != values.front().size()) {
        throw ShapeError("columns", std::to_string(values.front().size()) + " values each",
                         std::to_string(values.back().size()));
      }
    }
    py::tuple objects(values.empty() ? 0 : values.front().size());
    for (std::size_t row = 0; row < objects.size(); ++row) {
      py::object object =
          made([&](std::size_t i) { return PyTuple_GET_ITEM(values[i].ptr(), index(row)); });
      PyTuple_SET_ITEM(objects.ptr(), index(row), object.release().ptr());
    }
    return objects;
  }

 private:
  static Py_ssize_t index(std::size_t i) { return static_cast<Py_ssize_t>(i); }

  void require(std::size_t count, const char* argument) const {
    if (count == setters_.size()) return;
    throw ShapeError(argument, "one for each of " + std::to_string(setters_.size()) + " names",
                     std::to_string(count));
  }

  template <typename Value>
  py::object made(Value value) const {
    auto object = py::reinterpret_steal<py::object>(type_->tp_new(type_, nothing_.ptr(), nullptr));
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

}  // namespace

void bind_values(py::module_& m) {
  py::class_<Maker>(m, "Maker", "Makes objects of a class, past its __init__.")
      .def(py::init<py::object, py::tuple>(), py::arg("cls"), py::arg("names"))
      .def("one", &Maker::one, "An object: a value per name.")
      .def("many", &Maker::many, "A tuple of objects: a column of values per name.");
}

}  // namespace ebb::bindings
