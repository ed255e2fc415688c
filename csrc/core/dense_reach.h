// The nodes that spreading has reached, when these are most: a node's place is its number. What
// arrives is found at once, without a table, and nodes come out in order; the end of a hop looks at
// every node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/prefetch.h"
#include "core/reached.h"
#include "core/span.h"
#include "core/sparse_reach.h"
#include "core/spread_rules.h"
#include "core/spread_scratch.h"

namespace ebb {

class DenseReach {
 public:
  // Goes on where `before` stands; the rules have no node cap.
  DenseReach(std::size_t nodes, RowMask mask, const SpreadRules& rules, SpreadScratch& scratch,
             const SparseReach& before)
      : mask_(mask), rules_(rules), reached_(scratch.dense), hops_(before.hops()) {
    reached_.assign(nodes, {kNothingYet, 0.0, kNothingYet, 0, 0});
    for (std::uint32_t place = 1; place < before.end(); ++place) {
      Reached& one = reached_[before.node(place)];
      one = before.at(place);
      one.label = before.hop(place);
    }
  }

  void begin_hop() { ++hops_; }

  const void* cell(std::int64_t node) const { return reached_.data() + node; }

  template <typename AnyEdge>
  void receive(const AnyEdge* edges, std::size_t count, double amount, double scale,
               std::uint32_t from) {
    constexpr std::size_t kAhead = 24;
    Reached* const reached = reached_.data();
    for (std::size_t i = 0; i < count; ++i) {
      prefetch(reached + edges[std::min(i + kAhead, count - 1)].target);
      const double weight = edges[i].weight;
      ebb::receive(reached[edges[i].target], amount * (weight * scale), from);
    }
  }

  void settle(std::vector<Passing>& frontier) {
    frontier.resize(reached_.size() + 1);
    Passing* passing = frontier.data();
    for (std::uint32_t node = 0; node < reached_.size(); ++node) {
      Reached& one = reached_[node];
      if (one.arriving < 0.0) continue;
      if (one.best < kSettled) {
        one.label = hops_;
        if (!mask_.allows(node)) one.total = kTakesNoPart;
      }
      passing = ebb::settle(one, node, rules_.threshold, passing);
    }
    frontier.resize(static_cast<std::size_t>(passing - frontier.data()));
  }

  // --- by place: 0 to below end()

  std::uint32_t end() const { return static_cast<std::uint32_t>(reached_.size()); }
  const Reached& at(std::uint32_t place) const { return reached_[place]; }
  std::uint32_t node(std::uint32_t place) const { return place; }
  // 0 for what was set aside, and what nothing arrived at.
  std::uint32_t hop(std::uint32_t place) const { return reached_[place].label; }

 private:
  RowMask mask_;
  const SpreadRules& rules_;
  std::vector<Reached>& reached_;
  std::uint32_t hops_;
};

}  // namespace ebb
