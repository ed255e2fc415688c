// Who does a call: `threads` and `workers` as Python gives them.
#pragma once

#include <pybind11/pybind11.h>

#include "bindings/arguments.h"
#include "core/workers.h"

namespace ebb::bindings {

// The crew is good for as long as `workers` is.
inline Crew crew_of(const py::object& threads, const py::object& workers) {
  const std::size_t most = checked_count(threads, "threads", 1);
  if (workers.is_none()) return {nullptr, most};
  if (!py::isinstance<Workers>(workers)) {
    raise_type("workers", "Workers or None", py::str(py::type::of(workers).attr("__name__")));
  }
  return {py::cast<Workers*>(workers), most};
}

}  // namespace ebb::bindings
