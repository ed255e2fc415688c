// Python's error for a C++ exception, where pybind11 does not see to it.
#pragma once

namespace ebb::bindings {

// Call it from a catch clause: Python's error becomes the one of the exception that was caught, of
// the class that a bound function would raise. RuntimeError for what has no class of its own.
void set_python_error() noexcept;

}  // namespace ebb::bindings
