// What spreading knows of a node that an edge led to, and how it changes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace ebb {

struct alignas(32) Reached {
  double arriving;  // at this hop; kNothingYet, or a sum of at least 0
  double total;     // over the hops before this one; kTakesNoPart where there is none
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
// Stays what it is, whatever arrives.
constexpr double kTakesNoPart = -std::numeric_limits<double>::infinity();
constexpr double kNoneBetter = -1.0;
constexpr double kSettled = std::numeric_limits<double>::infinity();

inline bool has_arrived(const Reached& one) { return !std::signbit(one.arriving); }

// What follows is free of branches: what arrives where follows no pattern. A choice between two
// values goes by masks, since compilers make a branch of one that is only stored.

inline std::uint32_t chosen(bool first, std::uint32_t a, std::uint32_t b) {
  return b ^ ((a ^ b) & (0u - static_cast<std::uint32_t>(first)));
}

inline double chosen(bool first, double a, double b) {
  std::uint64_t x, y;
  std::memcpy(&x, &a, sizeof(x));
  std::memcpy(&y, &b, sizeof(y));
  y ^= (x ^ y) & (std::uint64_t{0} - static_cast<std::uint64_t>(first));
  std::memcpy(&b, &y, sizeof(b));
  return b;
}

inline void receive(Reached& one, double gain, std::uint32_t from) {
  one.arriving = std::min(one.arriving + gain, kLargest);
  one.parent = chosen(gain > one.best, from, one.parent);
  one.best = std::max(one.best, gain);
}

// Ends a hop for a node that something arrived at. Where it passes on, that is written to
// `passing`, and else to be overwritten; returns where the next one goes.
inline Passing* settle(Reached& one, std::uint32_t node, double threshold, Passing* passing) {
  const double arriving = one.arriving;
  passing->activation = arriving;
  passing->node = node;
  one.total += arriving;
  one.arriving = kNothingYet;
  one.best = kSettled;
  return passing + ((one.total >= 0.0) & (arriving >= threshold));
}

}  // namespace ebb
