#include <pybind11/pybind11.h>

#include <cstddef>

#include "bindings/numpy_views.h"
#include "bindings/topics.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

// pybind11 asks for the room of a native object when one is used that was never made, and then
// works on whatever lies there.
void* refuse_room(std::size_t) {
  raise_type("self", "an object that its class has made", "one whose __init__ never ran");
}

}  // namespace

void bind_unmade(py::module_& m) {
  for (const auto& named : m.attr("__dict__").cast<py::dict>()) {
    if (PyType_Check(named.second.ptr()) == 0) continue;
    auto* const type = reinterpret_cast<PyTypeObject*>(named.second.ptr());
    if (auto* const native = py::detail::get_type_info(type)) native->operator_new = &refuse_room;
  }
}

}  // namespace ebb::bindings
