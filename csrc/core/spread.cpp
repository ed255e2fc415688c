#include "core/spread.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/activation_order.h"
#include "core/dense_reach.h"
#include "core/node_order.h"
#include "core/sparse_reach.h"
#include "core/spread_rows.h"

namespace ebb {

namespace {

void check_rules(const SpreadRules& rules) {
  if (rules.depth < 0 || rules.depth > SpreadRules::kMaxDepth) {
    throw ValueError("depth", "0 to 8 hops", std::to_string(rules.depth));
  }
  if (!(rules.hop_decay > 0.0 && rules.hop_decay <= 1.0)) {
    throw ValueError("hop_decay", "a number in (0, 1]", std::to_string(rules.hop_decay));
  }
  if (!(rules.threshold >= 0.0 && rules.threshold <= kLargest)) {
    throw ValueError("threshold", "a finite number of at least 0", std::to_string(rules.threshold));
  }
}

template <typename Rows>
class Spreading {
 public:
  Spreading(Rows& rows, const Seeds& seeds, const SpreadRules& rules, SpreadScratch& scratch)
      : rows_(rows), seeds_(seeds), rules_(rules), scratch_(scratch) {
    if (rows.nodes() >= std::numeric_limits<std::uint32_t>::max()) {
      throw ValueError("graph", "less than 2^32 - 1 nodes", std::to_string(rows.nodes()));
    }
  }

  Activation run() {
    SparseReach sparse(rows_.nodes(), seeds_.mask, rules_, scratch_);
    seed(sparse);
    while (goes_on() && !floods()) hop(sparse);
    if (!goes_on()) return result(sparse);
    DenseReach dense(rows_.nodes(), seeds_.mask, rules_, scratch_, sparse);
    while (goes_on()) hop(dense);
    return result(dense);
  }

 private:
  bool goes_on() const { return hops_ < rules_.depth && !scratch_.frontier.empty(); }

  // Whether so many edges lie ahead that most nodes will be reached.
  bool floods() const {
    if (rules_.node_cap != 0 || scratch_.frontier.size() < rows_.nodes() / 256) return false;
    std::size_t edges = 0;
    for (const Passing& one : scratch_.frontier) {
      edges += rows_.width(one.node);
      if (edges > rows_.nodes()) return true;
    }
    return false;
  }

  void seed(SparseReach& reach) {
    const List<Passing>& seeds = checked_seeds(reach);
    Passing* passing = scratch_.frontier.resize_for_overwrite(seeds.size());
    for (const Passing& one : seeds) {
      if (!seeds_.mask.allows(one.node) || one.activation <= 0.0) continue;
      if (one.activation < rules_.threshold) continue;
      *passing++ = one;
    }
    scratch_.frontier.cut(passing);
    if (rules_.seeds_receive) return;
    for (const Passing& one : seeds) {
      if (one.activation > 0.0) reach.set_aside(one.node);
    }
  }

  // A copy of the seeds, each read once: another thread may write to the caller's arrays.
  const List<Passing>& checked_seeds(SparseReach& reach) {
    List<Passing>& seeds = scratch_.frontier_room;
    Passing* next = seeds.resize_for_overwrite(seeds_.nodes.size);
    for (std::size_t i = 0; i < seeds_.nodes.size; ++i) {
      const std::int64_t node = seeds_.nodes[i];
      const double activation = seeds_.activation[i];
      check_seed(node, activation);
      if (!reach.set_aside(static_cast<std::uint32_t>(node))) {
        throw ValueError("seeds", "distinct nodes", std::to_string(node) + " twice");
      }
      *next++ = {activation, static_cast<std::uint32_t>(node)};
    }
    reach.forget();
    return seeds;
  }

  void check_seed(std::int64_t node, double activation) const {
    if (node < 0 || static_cast<std::uint64_t>(node) >= rows_.nodes()) {
      throw ValueError("seeds", "nodes from 0 to below " + std::to_string(rows_.nodes()),
                       std::to_string(node));
    }
    if (!(activation >= 0.0 && activation <= kLargest)) {
      throw ValueError("seed_activation", "finite values of at least 0",
                       std::to_string(activation));
    }
  }

  template <typename Reach>
  void hop(Reach& reach) {
    const List<Passing>& frontier = scratch_.frontier;
    sort_by_node(scratch_.frontier, scratch_.frontier_room, rows_.nodes());
    reach.begin_hop();
    for (std::size_t i = 0; i < frontier.size(); ++i) {
      rows_.look_ahead(frontier, i);
      if constexpr (Reach::kAsksAhead) {
        rows_.look_at_targets(frontier, i, [&](auto node) { return reach.cell(node); });
      }
      auto row = rows_.row(frontier[i].node);
      // Parallel edges add up heaviest first; without any, the order within a row changes no sum.
      if constexpr (Rows::kMayBeUnordered) {
        if (holds_parallel(row)) std::sort(row.edges, row.edges + row.size, Heavier());
      }
      const double scale = rules_.fan_normalise && row.mass > 1.0 ? 1.0 / row.mass : 1.0;
      const double amount = frontier[i].activation * rules_.hop_decay;
      reach.receive(row.edges, row.size, amount, scale, frontier[i].node);
    }
    reach.settle(scratch_.frontier, ++hops_ == rules_.depth);
  }

  // Whether two edges of a row share a target.
  template <typename Row>
  bool holds_parallel(const Row& row) {
    bool rising = true;
    for (std::size_t i = 1; i < row.size; ++i) {
      rising &= row.edges[i - 1].target < row.edges[i].target;
    }
    if (rising) return false;
    std::vector<std::uint32_t>& last_row = scratch_.last_row;
    if (last_row.size() < rows_.nodes()) last_row.resize(rows_.nodes());
    const std::uint32_t number = ++scratch_.rows_seen;
    bool parallel = false;
    for (std::size_t i = 0; i < row.size; ++i) {
      std::uint32_t& last = last_row[static_cast<std::size_t>(row.edges[i].target)];
      parallel |= last == number;
      last = number;
    }
    return parallel;
  }

  template <typename Reach>
  Activation result(Reach& reach) {
    List<RankedPlace>& ranked = scratch_.ranked;
    reach.rank(ranked);
    sort_by_activation(ranked, scratch_.ranked_room, [&](std::uint32_t a, std::uint32_t b) {
      const double x = std::min(reach.at(a).total, 1.0), y = std::min(reach.at(b).total, 1.0);
      return x != y ? x > y : reach.node(a) < reach.node(b);
    });
    return columns(reach);
  }

  template <typename Reach>
  Activation columns(const Reach& reach) const {
    constexpr std::size_t kAhead = 16;
    const List<RankedPlace>& ranked = scratch_.ranked;
    Activation out;
    out.nodes = Column<std::int64_t>(ranked.size());
    out.activation = Column<double>(ranked.size());
    out.parent = Column<std::int64_t>(ranked.size());
    out.hop = Column<std::int32_t>(ranked.size());
    for (std::size_t i = 0; i < ranked.size(); ++i) {
      prefetch(&reach.at(ranked[std::min(i + kAhead, ranked.size() - 1)].place));
      const std::uint32_t place = ranked[i].place;
      out.nodes[i] = reach.node(place);
      out.activation[i] = std::min(reach.at(place).total, 1.0);
      out.parent[i] = reach.at(place).parent;
      out.hop[i] = static_cast<std::int32_t>(reach.hop(place));
    }
    return out;
  }

  Rows& rows_;
  const Seeds& seeds_;
  const SpreadRules& rules_;
  SpreadScratch& scratch_;
  int hops_ = 0;
};

}  // namespace

Activation spread(const Adjacency& graph, const Seeds& seeds, const SpreadRules& rules,
                  SpreadScratch& scratch) {
  check_rules(rules);
  MatrixRows rows(graph, rules.fan_cap);
  return Spreading<MatrixRows>(rows, seeds, rules, scratch).run();
}

Activation spread(const LinkRows& links, std::size_t nodes, const Seeds& seeds,
                  const SpreadRules& rules, SpreadScratch& scratch) {
  check_rules(rules);
  LinkGraphRows rows(links, nodes, rules.fan_cap);
  return Spreading<LinkGraphRows>(rows, seeds, rules, scratch).run();
}

}  // namespace ebb
