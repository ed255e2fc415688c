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
      : nodes_(nodes), mask_(mask), rules_(rules), hops_(before.hops()) {
    if (nodes > scratch.dense.size()) scratch.dense = Buffer<Reached>(nodes + nodes / 4);
    reached_ = scratch.dense.data();
    std::fill_n(reached_, nodes, Reached{kNothingYet, kTakesNoPart, kNoneBetter, 0, 0});
    for (std::uint32_t place = 1; place < before.end(); ++place) {
      Reached& one = reached_[before.node(place)];
      one = before.at(place);
      one.label = before.hop(place);
    }
  }

  void begin_hop() { ++hops_; }

  const void* cell(std::int64_t node) const { return reached_ + node; }

  template <typename AnyEdge>
  void receive(const AnyEdge* edges, std::size_t count, double amount, double scale,
               std::uint32_t from) {
    constexpr std::size_t kAhead = 24;
    Reached* const reached = reached_;
    const auto pass = [&](std::size_t i) {
      const double weight = edges[i].weight;
      ebb::receive(reached[edges[i].target], amount * (weight * scale), from);
    };
    std::size_t i = 0;
    for (; i + kAhead < count; ++i) {
      prefetch(reached + edges[i + kAhead].target);
      pass(i);
    }
    for (; i < count; ++i) pass(i);
  }

  // Ends a hop. Writes who passes on at the next one, unless this was the last.
  void settle(List<Passing>& frontier, bool last) {
    if (last) {
      settle<false>(nullptr);
    } else {
      frontier.cut(settle<true>(frontier.resize_for_overwrite(nodes_ + 1)));
    }
  }

  // --- by place: from first() to below end(), with a total of at least 0 where it was reached

  std::uint32_t first() const { return 0; }
  std::uint32_t end() const { return static_cast<std::uint32_t>(nodes_); }
  const Reached& at(std::uint32_t place) const { return reached_[place]; }
  std::uint32_t node(std::uint32_t place) const { return place; }
  std::uint32_t hop(std::uint32_t place) const { return reached_[place].label; }

 private:
  // Free of branches: most nodes are reached, and most are not, without a pattern.
  template <bool kGoesOn>
  Passing* settle(Passing* passing) {
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      Reached& one = reached_[node];
      const double arriving = one.arriving;
      const bool arrived = has_arrived(one), fresh = arrived & (one.best < kSettled);
      const bool allowed = mask_.data == nullptr || mask_.data[node];
      const double before = fresh & allowed ? 0.0 : one.total;
      const bool takes_part = arrived & (before >= 0.0);
      one.label = fresh ? hops_ : one.label;
      one.total = takes_part ? before + arriving : before;
      one.best = arrived ? kSettled : one.best;
      one.arriving = kNothingYet;
      if constexpr (kGoesOn) {
        passing->activation = arriving;
        passing->node = node;
        passing += takes_part & (arriving >= rules_.threshold);
      }
    }
    return passing;
  }

  std::size_t nodes_;
  RowMask mask_;
  const SpreadRules& rules_;
  Reached* reached_;
  std::uint32_t hops_;
};

}  // namespace ebb
