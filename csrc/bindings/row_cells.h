// The values of one row, as SQLite's binding gives them: a tuple of int, float, str and None.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "bindings/numpy_views.h"
#include "core/record_rows.h"

namespace ebb::bindings {

// Damage can make a value of another type than its column's. Such a row does not fit: what was
// asked for is then anything.
class RowCells {
 public:
  // The row is held: what Python makes of a text that is none, or of a row that is refused, may run
  // code that changes the list the row is in.
  RowCells(PyObject* row, std::size_t width, const std::string& argument)
      : row_(py::reinterpret_borrow<py::object>(row)) {
    if (!PyTuple_Check(row) || static_cast<std::size_t>(PyTuple_GET_SIZE(row)) != width) {
      raise_type(argument, "tuples of " + std::to_string(width) + " values", py::repr(row_));
    }
  }

  bool fits() const { return fits_; }

  PyObject* object(std::size_t i) const {
    return PyTuple_GET_ITEM(row_.ptr(), static_cast<Py_ssize_t>(i));
  }

  std::int64_t integer(std::size_t i) {
    if (!PyLong_Check(object(i))) return unfit();
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object(i), &overflow);
    return overflow == 0 ? value : unfit();
  }

  // kNull for None.
  std::int64_t integer_or_null(std::size_t i) { return is_null(i) ? kNull : integer(i); }

  // An integer is a number, too.
  double real(std::size_t i) {
    if (PyFloat_Check(object(i))) return PyFloat_AS_DOUBLE(object(i));
    return static_cast<double>(integer(i));
  }

  // Its UTF-8, as long as this is there.
  Span<const char> text(std::size_t i) {
    if (!PyUnicode_Check(object(i))) {
      unfit();
      return {};
    }
    Py_ssize_t size = 0;
    const char* const bytes = PyUnicode_AsUTF8AndSize(object(i), &size);
    if (bytes != nullptr) return {bytes, static_cast<std::size_t>(size)};
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) throw py::error_already_set();
    PyErr_Clear();
    unfit();
    return {};
  }

  // The bytes of a blob, as long as this is there.
  Span<const char> blob(std::size_t i) {
    if (PyBytes_Check(object(i))) {
      return {PyBytes_AS_STRING(object(i)), static_cast<std::size_t>(PyBytes_GET_SIZE(object(i)))};
    }
    unfit();
    return {};
  }

  // Without data for None.
  Span<const char> text_or_null(std::size_t i) { return is_null(i) ? Span<const char>{} : text(i); }

 private:
  bool is_null(std::size_t i) const { return object(i) == Py_None; }

  std::int64_t unfit() {
    fits_ = false;
    return 0;
  }

  py::object row_;
  bool fits_ = true;
};

// What the index keeps of a memory, from the first cells: in the order of INDEX_COLUMNS.
inline MemoryRecord indexed_memory(RowCells& cells) {
  return {cells.integer(0),
          cells.text(1),
          cells.real(2),
          cells.real(3),
          cells.real(4),
          cells.real(5),
          cells.real(6),
          cells.integer(7),
          cells.integer(8),
          cells.integer(9),
          cells.integer_or_null(10),
          cells.integer_or_null(11),
          cells.integer_or_null(12),
          cells.integer(13),
          cells.integer(14),
          cells.integer_or_null(15),
          cells.text_or_null(16),
          cells.integer(17)};
}

}  // namespace ebb::bindings
