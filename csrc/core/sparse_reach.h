// The nodes that spreading has reached, by place: places are given out in order of discovery, so
// what is written to is as compact as what was reached.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/activation_order.h"
#include "core/list.h"
#include "core/prefetch.h"
#include "core/reached.h"
#include "core/span.h"
#include "core/spread_rules.h"
#include "core/spread_scratch.h"

namespace ebb {

class SparseReach {
 public:
  // A place is looked up first, and then written to.
  static constexpr bool kAsksAhead = true;

  SparseReach(std::size_t nodes, RowMask mask, const SpreadRules& rules, SpreadScratch& scratch)
      : nodes_(nodes), mask_(mask), rules_(rules), scratch_(scratch) {
    scratch.fit(nodes);
    make_room(0);
  }
  SparseReach(const SparseReach&) = delete;
  SparseReach& operator=(const SparseReach&) = delete;
  // Also when a row was refused half way.
  ~SparseReach() { forget(); }

  // Gives a node a place and keeps it from taking part. Returns whether it had none before.
  bool set_aside(std::uint32_t node) {
    if (scratch_.places.data()[node] != 0) return false;
    make_room(1);
    scratch_.places.data()[node] = count_;
    scratch_.reached[count_++] = {kNothingYet, kTakesNoPart, kSettled, 0, node};
    return true;
  }

  void forget() {
    std::uint32_t* const places = scratch_.places.data();
    if (count_ > nodes_ / 8) {
      std::fill_n(places, nodes_, 0u);
    } else {
      for (std::uint32_t i = 1; i < count_; ++i) places[scratch_.reached[i].label] = 0;
    }
    std::fill_n(scratch_.reached.begin(), count_, kUntouched);
    count_ = 1;
  }

  void begin_hop() {
    first_of_hop_[hops_++] = count_;
    again_ = 0;
  }

  const void* cell(std::int64_t node) const { return scratch_.places.data() + node; }

  // What a node passes along its edges; in blocks, whose places are all asked for before the first
  // is written to.
  template <typename AnyEdge>
  void receive(const AnyEdge* edges, std::size_t count, double amount, double scale,
               std::uint32_t from) {
    make_room(count);
    std::array<std::uint32_t, kBlock> at;
    for (std::size_t begin = 0; begin < count; begin += kBlock) {
      const std::size_t some = std::min(kBlock, count - begin);
      find_places(edges + begin, some, at.data());
      Reached* const reached = scratch_.reached.data();
      std::uint32_t* const again = scratch_.again.data();
      std::uint32_t repeated = again_;
      for (std::size_t i = 0; i < some; ++i) {
        Reached& one = reached[at[i]];
        again[repeated] = at[i];
        repeated += !has_arrived(one);
        const double weight = edges[begin + i].weight;
        ebb::receive(one, amount * (weight * scale), from);
      }
      again_ = repeated;
    }
  }

  // Ends a hop. Writes who passes on at the next one, unless this was the last.
  void settle(List<Passing>& frontier, bool /*last*/) {
    Reached* const reached = scratch_.reached.data();
    const std::uint32_t first = first_of_hop_[hops_ - 1];
    if (mask_.data != nullptr) {
      for (std::uint32_t place = first; place < count_; ++place) {
        if (!mask_.allows(reached[place].label)) reached[place].total = kTakesNoPart;
      }
    }
    if (rules_.node_cap != 0) cut_to_node_cap(first);
    Passing* passing = frontier.resize_for_overwrite(count_ - first + again_ + 1);
    for (std::uint32_t place = first; place < count_; ++place) {
      passing = ebb::settle(reached[place], reached[place].label, rules_.threshold, passing);
    }
    for (std::uint32_t i = 0; i < again_; ++i) {
      Reached& one = reached[scratch_.again[i]];
      passing = ebb::settle(one, one.label, rules_.threshold, passing);
    }
    frontier.cut(passing);
  }

  // Writes the places where a node was reached.
  void rank(List<RankedPlace>& ranked) const {
    RankedPlace* next = ranked.resize_for_overwrite(end() - first() + 1);
    for (std::uint32_t place = first(); place < end(); ++place) {
      next = ebb::rank(at(place).total, place, next);
    }
    ranked.cut(next);
  }

  std::uint32_t hops() const { return static_cast<std::uint32_t>(hops_); }

  // --- by place: from first() to below end(), with a total of at least 0 where it was reached

  std::uint32_t first() const { return hops_ == 0 ? count_ : first_of_hop_[0]; }
  std::uint32_t end() const { return count_; }
  const Reached& at(std::uint32_t place) const { return scratch_.reached[place]; }
  std::uint32_t node(std::uint32_t place) const { return at(place).label; }
  std::uint32_t hop(std::uint32_t place) const {
    std::uint32_t hop = 0;
    for (std::size_t h = 0; h < hops_; ++h) hop += place >= first_of_hop_[h];
    return hop;
  }

 private:
  static constexpr std::size_t kBlock = 64;
  // What scratch_.reached holds beyond the places given out.
  static constexpr Reached kUntouched{0.0, 0.0, kNoneBetter, 0, 0};

  // Free of branches: which targets are new follows no pattern. Writes to one place more than there
  // are.
  template <typename AnyEdge>
  void find_places(const AnyEdge* edges, std::size_t count, std::uint32_t* at) {
    std::uint32_t* const places = scratch_.places.data();
    Reached* const reached = scratch_.reached.data();
    std::uint32_t next = count_;
    for (std::size_t i = 0; i < count; ++i) {
      const auto node = static_cast<std::uint32_t>(edges[i].target);
      const std::uint32_t known = places[node];
      const std::uint32_t place = known == 0 ? next : known;
      places[node] = place;
      reached[next].label = node;  // all else is as kUntouched
      next += known == 0;
      at[i] = place;
      prefetch(&reached[place]);
    }
    count_ = next;
  }

  // For so many more edges.
  void make_room(std::size_t edges) {
    const std::size_t places = count_ + edges + 1, repeated = again_ + edges + 1;
    std::vector<Reached>& reached = scratch_.reached;
    if (places > reached.size()) reached.resize(std::max(places, 2 * reached.size()), kUntouched);
    std::vector<std::uint32_t>& again = scratch_.again;
    if (repeated > again.size()) again.resize(std::max(repeated, 2 * again.size()));
  }

  // Drops the weakest new arrivals beyond the cap. A node dropped once stays out: from then on the
  // cap is used up.
  void cut_to_node_cap(std::uint32_t first) {
    std::vector<std::uint32_t>& fresh = scratch_.fresh;
    fresh.clear();
    for (std::uint32_t place = first; place < count_; ++place) {
      if (scratch_.reached[place].total >= 0.0) fresh.push_back(place);
    }
    const std::size_t left = rules_.node_cap - counted_;
    if (fresh.size() > left) {
      const auto cut = fresh.begin() + static_cast<std::ptrdiff_t>(left);
      std::nth_element(fresh.begin(), cut, fresh.end(), [this](std::uint32_t a, std::uint32_t b) {
        const Reached &x = at(a), &y = at(b);
        return x.arriving != y.arriving ? x.arriving > y.arriving : x.label < y.label;
      });
      for (auto it = cut; it != fresh.end(); ++it) scratch_.reached[*it].total = kTakesNoPart;
      fresh.erase(cut, fresh.end());
    }
    counted_ += fresh.size();
  }

  std::size_t nodes_;
  RowMask mask_;
  const SpreadRules& rules_;
  SpreadScratch& scratch_;
  std::uint32_t count_ = 1;  // places given out; place 0 means none
  std::uint32_t again_ = 0;  // of scratch_.again: places reached at this hop and an earlier one
  std::size_t counted_ = 0;  // nodes reached, while there is a node cap
  std::size_t hops_ = 0;
  std::array<std::uint32_t, SpreadRules::kMaxDepth> first_of_hop_{};  // places
};

}  // namespace ebb
