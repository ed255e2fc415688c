// C++ exception -> Python class, in one place. The classes live in ebbmem.errors, which imports
// nothing, so fetching them here (only when something was refused) is safe at any time.
#include <pybind11/pybind11.h>

#include "bindings/topics.h"
#include "core/errors.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

void raise(const char* python_class, const std::exception& error) {
  const py::object type = py::module_::import("ebbmem.errors").attr(python_class);
  PyErr_SetString(type.ptr(), error.what());
}

}  // namespace

void bind_errors(py::module_&) {
  py::register_local_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const ShapeError& error) {
      raise("ShapeMismatch", error);
    } catch (const ValueError& error) {
      raise("InvalidArgument", error);
    } catch (const UnknownIsa& error) {
      raise("UnknownInstructionSet", error);
    }
  });
}

}  // namespace ebb::bindings
