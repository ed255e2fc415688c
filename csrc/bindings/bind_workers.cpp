#include <pybind11/pybind11.h>

#include <memory>

#include "bindings/arguments.h"
#include "bindings/released.h"
#include "bindings/topics.h"
#include "core/workers.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

std::unique_ptr<Workers> make(const py::object& most) {
  return std::make_unique<Workers>(checked_count(most, "most", 0));
}

void close(Workers& workers) {
  released([&] { workers.close(); });
}

}  // namespace

void bind_workers(py::module_& m) {
  py::class_<Workers>(m, "Workers", "Threads that help callers, started when first wanted.")
      .def(py::init(&make), py::arg("most"))
      .def("close", &close, "End the threads; later calls are done by their callers alone.")
      .def("forget", &Workers::forget, "In a forked child: leave the threads of the parent.")
      .def_property_readonly("most", &Workers::most, "How many threads there may be.")
      .def_property_readonly("started", released_getter(&Workers::started),
                             "How many threads there are.");
}

}  // namespace ebb::bindings
