#include <pybind11/pybind11.h>

#include "bindings/topics.h"

namespace py = pybind11;

namespace ebb::bindings {

void bind_lexicon(py::module_&) {}

}  // namespace ebb::bindings
