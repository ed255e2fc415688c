// The topic of loading a scope, as those of topics.h: apart, since nothing else is loaded from
// rows.
#pragma once

#include <pybind11/pybind11.h>

namespace ebb::bindings {

void bind_scope_load(pybind11::module_& m);

}  // namespace ebb::bindings
