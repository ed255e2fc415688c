#include <pybind11/pybind11.h>

#include "bindings/topics.h"

namespace py = pybind11;

namespace ebb::bindings {

void bind_embed(py::module_&) {}

}  // namespace ebb::bindings
