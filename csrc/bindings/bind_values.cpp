#include <pybind11/pybind11.h>

#include <string>
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
  const py::tuple nothing;
  py::list objects(values.front().size());
  for (std::size_t row = 0; row < objects.size(); ++row) {
    auto object = py::reinterpret_steal<py::object>(type->tp_new(type, nothing.ptr(), nullptr));
    if (!object) throw py::error_already_set();
    for (std::size_t i = 0; i < values.size(); ++i) {
      PyObject* const value = PyTuple_GET_ITEM(values[i].ptr(), static_cast<Py_ssize_t>(row));
      if (PyObject_GenericSetAttr(object.ptr(),
                                  PyTuple_GET_ITEM(names.ptr(), static_cast<Py_ssize_t>(i)),
                                  value) != 0) {
        throw py::error_already_set();
      }
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
