// The nodes that spreading has reached, when these are most: a node's place is its number. What
// arrives is found at once, without a table, and nodes come out in order; the end of a hop looks at
// every node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/activation_order.h"
#include "core/list.h"
#include "core/reached.h"
#include "core/span.h"
#include "core/sparse_reach.h"
#include "core/spread_rules.h"
#include "core/spread_scratch.h"

namespace ebb {

class DenseReach {
 public:
  // Nothing waits for what arrives: the processor finds the cells in time by itself, and asking for
  // them takes longer than it saves.
  static constexpr bool kAsksAhead = false;

  // Goes on where `before` stands; the rules have no node cap.
  DenseReach(std::size_t nodes, RowMask mask, const SpreadRules& rules, SpreadScratch& scratch,
             const SparseReach& before)
      : nodes_(nodes), rules_(rules), hops_(before.hops()) {
    if (nodes > scratch.dense.size()) scratch.dense = Buffer<Reached>(nodes + nodes / 4);
    reached_ = scratch.dense.data();
    std::fill_n(reached_, nodes, Reached{kNothingYet, kTakesNoPart, kNoneBetter, 0, kNoHopYet});
    if (mask.data != nullptr) {
      for (std::size_t node = 0; node < nodes; ++node) {
        reached_[node].label = chosen(mask.data[node], kNoHopYet, kNoHopEver);
      }
    }
    for (std::uint32_t place = 1; place < before.end(); ++place) {
      Reached& one = reached_[before.node(place)];
      one = before.at(place);
      one.label = one.total >= 0.0 ? before.hop(place) : kNoHopEver;
    }
  }

  void begin_hop() { ++hops_; }

  template <typename AnyEdge>
  void receive(const AnyEdge* edges, std::size_t count, double amount, double scale,
               std::uint32_t from) {
    Reached* const reached = reached_;
    for (std::size_t i = 0; i < count; ++i) {
      const double weight = edges[i].weight;
      ebb::receive(reached[edges[i].target], amount * (weight * scale), from);
    }
  }

  // Ends a hop. Writes who passes on at the next one; what arrived at the last hop is left to
  // rank().
  void settle(List<Passing>& frontier, bool last) {
    if (last) return;
    Passing* passing = frontier.resize_for_overwrite(nodes_ + 1);
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      Reached& one = reached_[node];
      const double arriving = one.arriving;
      const bool arrived = has_arrived(one);
      one.best = chosen(is_fresh(one), kSettled, one.best);
      add_up(one);
      one.arriving = kNothingYet;
      passing->activation = arriving;
      passing->node = node;
      passing += arrived & (one.total >= 0.0) & (arriving >= rules_.threshold);
    }
    frontier.cut(passing);
  }

  // Ends the last hop too, and writes the places where a node was reached.
  void rank(List<RankedPlace>& ranked) {
    RankedPlace* next = ranked.resize_for_overwrite(nodes_ + 1);
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      Reached& one = reached_[node];
      add_up(one);
      next = ebb::rank(one.total, node, next);
    }
    ranked.cut(next);
  }

  // --- by place

  const Reached& at(std::uint32_t place) const { return reached_[place]; }
  std::uint32_t node(std::uint32_t place) const { return place; }
  std::uint32_t hop(std::uint32_t place) const { return reached_[place].label; }

 private:
  static constexpr std::uint32_t kNoHopYet = 0, kNoHopEver = 0xFFFFFFFF;
  static_assert(kNoHopYet == 0, "the first hop is put into it with |");

  static bool is_fresh(const Reached& one) { return has_arrived(one) & (one.label == kNoHopYet); }

  // Free of branches: most nodes are reached, and most are not, without a pattern. What did not
  // arrive adds nothing.
  void add_up(Reached& one) const {
    const bool fresh = is_fresh(one);
    one.label |= chosen(fresh, hops_, 0u);
    one.total = chosen(fresh, 0.0, one.total) + one.arriving;
  }

  std::size_t nodes_;
  const SpreadRules& rules_;
  Reached* reached_;
  std::uint32_t hops_;
};

}  // namespace ebb
