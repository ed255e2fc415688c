// The topics of rows that are loaded and written, as those of topics.h: apart, since nothing else
// is of rows.
#pragma once

#include <pybind11/pybind11.h>

namespace ebb::bindings {

void bind_scope_load(pybind11::module_& m);
void bind_row_seals(pybind11::module_& m);

}  // namespace ebb::bindings
