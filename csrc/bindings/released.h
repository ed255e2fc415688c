// Work without the interpreter's lock: the core's locks are taken only once it is released.
#pragma once

#include <pybind11/pybind11.h>

namespace ebb::bindings {

template <typename Call>
auto released(Call call) {
  const pybind11::gil_scoped_release nogil;
  return call();
}

// A getter of what a const method returns.
template <typename Owner, typename Value>
auto released_getter(Value (Owner::*method)() const) {
  return [method](const Owner& owner) { return released([&] { return (owner.*method)(); }); };
}

}  // namespace ebb::bindings
