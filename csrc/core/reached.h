// What spreading knows of a node that an edge led to, and how it changes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace ebb {

struct alignas(32) Reached {
  double arriving;  // at this hop; below 0: nothing yet
  double total;     // over the hops before this one; below 0: the node takes no part
  double best;      // largest single contribution at the hop of first arrival;
                    // infinite after it
  std::uint32_t parent;
  std::uint32_t label;  // the node, or where that is known, the hop of first arrival
};

// A node that passes on at the next hop.
struct Passing {
  double activation;
  std::uint32_t node;
};

// Sums stop here, so that a graph of huge weights yields no infinity, and then no NaN.
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kNothingYet = -1.0;
constexpr double kTakesNoPart = -1.0;
constexpr double kSettled = std::numeric_limits<double>::infinity();

// Both are free of branches: what arrives where follows no pattern.

inline void receive(Reached& one, double gain, std::uint32_t from) {
  one.arriving = std::min(std::max(one.arriving, 0.0) + gain, kLargest);
  const bool better = gain > one.best;
  one.best = better ? gain : one.best;
  one.parent = better ? from : one.parent;
}

// Ends a hop for a node that something arrived at. Where it passes on, that is written to
// `passing`, and else to be overwritten; returns where the next one goes.
inline Passing* settle(Reached& one, std::uint32_t node, double threshold, Passing* passing) {
  const bool takes_part = one.total >= 0.0;
  const double arriving = one.arriving;
  passing->activation = arriving;
  passing->node = node;
  one.total = takes_part ? one.total + arriving : one.total;
  one.arriving = kNothingYet;
  one.best = kSettled;
  return passing + (takes_part & (arriving >= threshold));
}

}  // namespace ebb
