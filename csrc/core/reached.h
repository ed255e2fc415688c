// What spreading knows of a node that an edge led to, and how it changes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ebb {

struct alignas(32) Reached {
  double arriving;  // at this hop; kNothingYet, or a sum of at least 0
  double total;     // over the hops before this one; below 0: the node takes no part
  double best;      // largest single contribution at the hop of first arrival; infinite after it
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
// Adds nothing to what arrives (which is never below +0), and yet is told from it by its sign.
constexpr double kNothingYet = -0.0;
constexpr double kTakesNoPart = -1.0;
constexpr double kNoneBetter = -1.0;
constexpr double kSettled = std::numeric_limits<double>::infinity();

inline bool has_arrived(const Reached& one) { return !std::signbit(one.arriving); }

// Both are free of branches: what arrives where follows no pattern.

inline void receive(Reached& one, double gain, std::uint32_t from) {
  one.arriving = std::min(one.arriving + gain, kLargest);
  one.parent = gain > one.best ? from : one.parent;
  one.best = std::max(one.best, gain);
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
