// C++ exception -> Python class, in one place. The classes live in ebbmem.errors, which imports
// nothing, so fetching them here (only when something was refused) is safe at any time.
#include "bindings/errors.h"

#include <pybind11/pybind11.h>

#include <exception>
#include <new>
#include <stdexcept>

#include "bindings/topics.h"
#include "core/errors.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

void raise(const char* python_class, const std::exception& error) {
  const py::object type = py::module_::import("ebbmem.errors").attr(python_class);
  PyErr_SetString(type.ptr(), error.what());
}

bool no_memory() {
  return PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_MemoryError) != 0;
}

// What the core refuses; lets everything else through.
void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const ShapeError& error) {
    raise("ShapeMismatch", error);
  } catch (const ValueError& error) {
    raise("InvalidArgument", error);
  } catch (const UnknownIsa& error) {
    raise("UnknownInstructionSet", error);
  } catch (const std::runtime_error&) {
    // Where Python has no memory for an object it says so; pybind11 throws one of these over it.
    if (!no_memory()) throw;
  }
}

}  // namespace

void set_python_error() noexcept {
  try {
    translate(std::current_exception());
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "something that is no exception was thrown");
  }
}

void bind_errors(py::module_&) { py::register_local_exception_translator(&translate); }

}  // namespace ebb::bindings
