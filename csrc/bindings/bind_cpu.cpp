#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/released.h"
#include "bindings/topics.h"
#include "core/dispatch.h"
#include "core/heap.h"

namespace py = pybind11;

namespace ebb::bindings {

void bind_cpu(py::module_& m) {
  m.def("isa", [] { return std::string(active().name); }, "Name of the instruction set in use.");
  m.def(
      "isas", [] { return names(); },
      "Names of the instruction sets this machine runs, best first.");
  m.def("choose_isa", &choose, py::arg("name"),
        "Use the kernels of one instruction set; the empty name takes the best.");
  m.def(
      "give_back_free_pages", [] { released([] { give_back_free_pages(); }); },
      "Give free pages of the heap back to the system, where it does not happen by itself.");
#if defined(__VERSION__)
  m.attr("compiler") = __VERSION__;
#else
  m.attr("compiler") = "unknown";
#endif
}

}  // namespace ebb::bindings
