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

// What `object.__new__` and `object.__setattr__` do, by columns. Python spends longer on calling
// them for the hits of a recall than on finding the hits.
py::list made(const py::object& cls, const py::tuple& names, const py::tuple& columns) {
  PyTypeObject* const type = plain_class(cls);
  if (columns.empty() || names.size() != columns.size()) {
    throw ShapeError("columns", "one for each of " + std::to_string(names.size()) + " names, 1 up",
                     std::to_string(columns.size()));
  }
  std::vector<py::tuple> values;
  for (const py::handle column : columns) {
    values.push_back(py::reinterpret_steal<py::tuple>(PySequence_Tuple(column.ptr())));
    if (!values.back()) throw py::error_already_set();
    if (values.back().size() != values.front().size()) {
      throw ShapeError("columns", std::to_string(values.front().size()) + " values each",
                       std::to_string(values.back().size()));
    }
  }
  std::vector<Setter> setters;
  for (const py::handle name : names) setters.emplace_back(type, name.ptr());
  const py::tuple nothing;
  py::list objects(values.front().size());
  for (std::size_t row = 0; row < objects.size(); ++row) {
    auto object = py::reinterpret_steal<py::object>(type->tp_new(type, nothing.ptr(), nullptr));
    if (!object) throw py::error_already_set();
    for (std::size_t i = 0; i < values.size(); ++i) {
      setters[i].set(object.ptr(), PyTuple_GET_ITEM(values[i].ptr(), static_cast<Py_ssize_t>(row)));
    }
    PyList_SET_ITEM(objects.ptr(), static_cast<Py_ssize_t>(row), object.release().ptr());
  }
  return objects;
}

}  // namespace

void bind_values(py::module_& m) {
  m.def("made", &made, "New objects of a class, past its __init__: a column of values per name.",
        py::arg("cls"), py::arg("names"), py::arg("columns"));
}

}  // namespace ebb::bindings
