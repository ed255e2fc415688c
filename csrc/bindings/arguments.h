// Checks of arguments that are not arrays: numbers, and arrays that may be absent.
#pragma once

#include <pybind11/pybind11.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include "bindings/numpy_views.h"

namespace ebb::bindings {

// A whole number of at least `least`; numpy's integers are welcome, bool and float are not. What
// exceeds the machine's range is taken as the largest number it has.
inline std::size_t checked_count(const py::object& object, const std::string& argument,
                                 std::size_t least) {
  if (PyIndex_Check(object.ptr()) == 0 || PyBool_Check(object.ptr())) {
    raise_type(argument, "an integer", py::str(py::type::of(object).attr("__name__")));
  }
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  if (!number) throw py::error_already_set();
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow > 0) return static_cast<std::size_t>(PY_SSIZE_T_MAX);
  if (overflow < 0 || value < 0 || static_cast<std::size_t>(value) < least) {
    throw ValueError(argument, "an integer of at least " + std::to_string(least),
                     overflow < 0 ? "one below -2^63" : std::to_string(value));
  }
  return static_cast<std::size_t>(value);
}

// A slot number; whether the arena has it is the arena's to say.
inline std::int64_t checked_slot(const py::object& object, const std::string& argument) {
  return static_cast<std::int64_t>(checked_count(object, argument, 0));
}

// A whole number of either sign that the machine can hold.
inline std::int64_t checked_integer(const py::object& object, const std::string& argument) {
  if (PyIndex_Check(object.ptr()) == 0 || PyBool_Check(object.ptr())) {
    raise_type(argument, "an integer", py::str(py::type::of(object).attr("__name__")));
  }
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  if (!number) throw py::error_already_set();
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow == 0) return value;
  // Python itself refuses to write out the largest.
  throw ValueError(argument, "an integer of 64 bits", overflow < 0 ? "one below" : "one beyond");
}

// A float or an integer; bool is neither.
inline double checked_number(const py::object& object, const std::string& argument) {
  if (PyBool_Check(object.ptr()) ||
      (PyFloat_Check(object.ptr()) == 0 && PyIndex_Check(object.ptr()) == 0)) {
    raise_type(argument, "a number", py::str(py::type::of(object).attr("__name__")));
  }
  const double number = PyFloat_AsDouble(object.ptr());
  if (PyErr_Occurred() == nullptr) return number;
  if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) throw py::error_already_set();
  PyErr_Clear();
  throw ValueError(argument, "a number that a double can hold", "an integer beyond");
}

// A number that float32 can hold, rounded to it.
inline float checked_float32(const py::object& object, const std::string& argument) {
  const double number = checked_number(object, argument);
  if (!(std::abs(number) <= std::numeric_limits<float>::max())) {
    throw ValueError(argument, "a finite float32", std::to_string(number));
  }
  return static_cast<float>(number);
}

template <typename T>
std::optional<Span<const T>> optional_view(const py::object& object, const std::string& argument) {
  if (object.is_none()) return std::nullopt;
  return vector_view<T>(object, argument);
}

template <typename T>
std::optional<Span<const T>> optional_view(const py::object& object, const std::string& argument,
                                           std::size_t length) {
  if (object.is_none()) return std::nullopt;
  return vector_view<T>(object, argument, length);
}

}  // namespace ebb::bindings
