// numpy <-> Span. Arrays are never converted: a silent copy is a fault in this library.
// Every check names the argument, what was expected and what came.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/errors.h"
#include "core/span.h"

// Arrays of bool are looked at as such.
template <>
struct pybind11::detail::npy_format_descriptor<ebb::Truth> : npy_format_descriptor<bool> {};

namespace ebb::bindings {

namespace py = pybind11;

[[noreturn]] inline void raise_type(const std::string& argument, const std::string& expected,
                                    const std::string& got) {
  const std::string message = argument + ": expected " + expected + ", got " + got;
  const py::object type = py::module_::import("ebbmem.errors").attr("InvalidType");
  PyErr_SetString(type.ptr(), message.c_str());
  throw py::error_already_set();
}

inline std::string shape_text(const py::array& array) {
  return py::str(py::tuple(array.attr("shape"))).cast<std::string>();
}

template <typename T>
bool has_dtype(const py::array& array) {
  return py::dtype::of<T>().is(array.dtype()) || array.dtype().equal(py::dtype::of<T>());
}

template <typename T>
bool is_array_of(const py::object& object) {
  return py::isinstance<py::array>(object) &&
         has_dtype<T>(py::reinterpret_borrow<py::array>(object));
}

template <typename T>
std::string dtype_name() {
  return py::str(py::dtype::of<T>()).template cast<std::string>();
}

inline std::string type_text(const py::object& object) {
  if (!py::isinstance<py::array>(object)) return py::str(py::type::of(object).attr("__name__"));
  const auto array = py::reinterpret_borrow<py::array>(object);
  return "dtype " + py::str(array.dtype()).cast<std::string>();
}

// Of what is an array neither of A nor of B.
template <typename A, typename B>
[[noreturn]] void raise_neither(const py::object& object, const std::string& argument) {
  raise_type(argument, "a C-contiguous 1-d array of " + dtype_name<A>() + " or " + dtype_name<B>(),
             type_text(object));
}

// A C-contiguous, aligned array of exactly T with `ndim` dimensions.
template <typename T>
py::array checked_array(const py::object& object, const std::string& argument, int ndim) {
  // Told only when something is wrong: naming a dtype takes longer than most calls.
  const auto expected = [ndim] {
    return "a C-contiguous " + std::to_string(ndim) + "-d array of " + dtype_name<T>();
  };
  if (!is_array_of<T>(object)) raise_type(argument, expected(), type_text(object));
  auto array = py::reinterpret_borrow<py::array>(object);
  if (array.ndim() != ndim) throw ShapeError(argument, expected(), "shape " + shape_text(array));
  if ((array.flags() & py::array::c_style) == 0) {
    raise_type(argument, expected(), "a strided view");
  }
  if ((array.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) == 0) {
    raise_type(argument, expected(), "a misaligned view");
  }
  return array;
}

template <typename T>
Span<const T> vector_view(const py::object& object, const std::string& argument) {
  const py::array array = checked_array<T>(object, argument, 1);
  return {static_cast<const T*>(array.data()), static_cast<std::size_t>(array.shape(0))};
}

template <typename T>
Span<const T> vector_view(const py::object& object, const std::string& argument,
                          std::size_t length) {
  const Span<const T> view = vector_view<T>(object, argument);
  if (view.size != length) {
    throw ShapeError(argument, std::to_string(length) + " values", std::to_string(view.size));
  }
  return view;
}

// The values of an array as they are now. What is checked without the interpreter's lock, and then
// says where to write or read, must be a copy: another thread may write to the caller's array.
template <typename T>
class Copied {
 public:
  Copied(const py::object& object, const std::string& argument) {
    const Span<const T> view = vector_view<T>(object, argument);
    values_.assign(view.begin(), view.end());
  }

  std::size_t size() const { return values_.size(); }
  operator Span<const T>() const { return {values_.data(), values_.size()}; }

 private:
  std::vector<T> values_;
};

using CopiedSlots = Copied<std::int64_t>;

// The same as a view, of an array that the call is to change.
template <typename T>
Span<T> mutable_view(const py::object& object, const std::string& argument) {
  const py::array array = checked_array<T>(object, argument, 1);
  if (!array.writeable()) raise_type(argument, "an array to be written to", "a read-only one");
  return {static_cast<T*>(py::array(array).mutable_data()),
          static_cast<std::size_t>(array.shape(0))};
}

template <typename T>
Span<T> mutable_view(const py::object& object, const std::string& argument, std::size_t length) {
  const Span<T> view = mutable_view<T>(object, argument);
  if (view.size != length) {
    throw ShapeError(argument, std::to_string(length) + " values", std::to_string(view.size));
  }
  return view;
}

// A mask over `length` rows; None lets every row through.
inline RowMask mask_view(const py::object& object, const std::string& argument,
                         std::size_t length) {
  if (object.is_none()) return {};
  const Span<const Truth> view = vector_view<Truth>(object, argument, length);
  return {view.data, view.size};
}

template <typename T>
void require_finite(Span<const T> values, const std::string& argument) {
  for (const T& value : values) {
    if (!std::isfinite(value)) throw ValueError(argument, "finite values", std::to_string(value));
  }
}

// Hand a vector or a column to numpy without copying it.
template <typename Values>
auto to_numpy(Values&& values) {
  using T = std::remove_reference_t<decltype(*values.data())>;
  static_assert(!std::is_reference_v<Values>, "what is handed over is moved");
  auto owner = std::make_unique<Values>(std::move(values));
  T* data = owner->data();
  const auto size = static_cast<py::ssize_t>(owner->size());
  const py::capsule capsule(owner.get(), [](void* p) { delete static_cast<Values*>(p); });
  (void)owner.release();
  return py::array_t<T>({size}, {static_cast<py::ssize_t>(sizeof(T))}, data, capsule);
}

// A new C-contiguous array whose values are still to be written. Made by numpy's own function:
// for one text pybind11's constructor takes longer than the embedding.
template <typename T>
struct NewArray {
  explicit NewArray(std::size_t length) : NewArray({static_cast<Py_intptr_t>(length), 0}, 1) {}

  NewArray(std::size_t rows, std::size_t columns)
      : NewArray({static_cast<Py_intptr_t>(rows), static_cast<Py_intptr_t>(columns)}, 2) {}

  // An array that was made elsewhere, and where its values lie.
  NewArray(py::object made, T* at) : array(std::move(made)), values(at) {}

  py::object array;
  T* values;

 private:
  NewArray(std::array<Py_intptr_t, 2> shape, int ndim) {
    auto& numpy = py::detail::npy_api::get();
    array = py::reinterpret_steal<py::object>(
        numpy.PyArray_NewFromDescr_(numpy.PyArray_Type_, py::dtype::of<T>().release().ptr(), ndim,
                                    shape.data(), nullptr, nullptr, 0, nullptr));
    if (!array) throw py::error_already_set();
    values = reinterpret_cast<T*>(py::detail::array_proxy(array.ptr())->data);
  }
};

// Hand numpy a copy: for few values cheaper than to make it an owner.
template <typename T>
py::object copied(const std::vector<T>& values) {
  const NewArray<T> copy(values.size());
  std::copy(values.begin(), values.end(), copy.values);
  return copy.array;
}

}  // namespace ebb::bindings
