// What both forms of spreading take and return.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <utility>

#include "bindings/numpy_views.h"
#include "core/errors.h"
#include "core/spread.h"

namespace ebb::bindings {

inline std::size_t checked_cap(std::int64_t cap, const char* argument) {
  if (cap < 0) throw ValueError(argument, "0 (no cap) or more", std::to_string(cap));
  return static_cast<std::size_t>(cap);
}

inline SpreadRules rules_of(int depth, double hop_decay, double threshold, std::int64_t fan_cap,
                            std::int64_t node_cap, bool fan_normalise, bool seeds_receive) {
  return {depth,
          hop_decay,
          threshold,
          checked_cap(fan_cap, "fan_cap"),
          checked_cap(node_cap, "node_cap"),
          fan_normalise,
          seeds_receive};
}

inline Seeds seeds_of(const py::object& nodes, const py::object& activation, const py::object& mask,
                      std::size_t size) {
  const auto starts = vector_view<std::int64_t>(nodes, "seeds");
  return {starts, vector_view<double>(activation, "seed_activation", starts.size),
          mask_view(mask, "mask", size)};
}

inline py::tuple to_tuple(Activation&& out) {
  return py::make_tuple(to_numpy(std::move(out.nodes)), to_numpy(std::move(out.activation)),
                        to_numpy(std::move(out.parent)), to_numpy(std::move(out.hop)));
}

}  // namespace ebb::bindings
