#include "core/spread.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>

#include "core/activation_order.h"
#include "core/node_order.h"

namespace ebb {

namespace {

constexpr int kMaxDepth = 8;
// Sums stop here, so that a graph of huge weights yields no infinity, and then no NaN.
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kNothingYet = -1.0;
constexpr double kTakesNoPart = -1.0;
constexpr double kSettled = std::numeric_limits<double>::infinity();

void check_rules(const SpreadRules& rules) {
  if (rules.depth < 0 || rules.depth > kMaxDepth) {
    throw ValueError("depth", "0 to 8 hops", std::to_string(rules.depth));
  }
  if (!(rules.hop_decay > 0.0 && rules.hop_decay <= 1.0)) {
    throw ValueError("hop_decay", "a number in (0, 1]", std::to_string(rules.hop_decay));
  }
  if (!(rules.threshold >= 0.0 && rules.threshold <= kLargest)) {
    throw ValueError("threshold", "a finite number of at least 0", std::to_string(rules.threshold));
  }
}

// Rows of links, looked at some steps ahead.
class LinkGraphRows {
 public:
  LinkGraphRows(const LinkRows& links, std::size_t nodes, std::size_t fan_cap)
      : links_(links),
        nodes_(nodes),
        fan_cap_(fan_cap == 0 ? std::numeric_limits<std::size_t>::max() : fan_cap) {}

  std::size_t nodes() const { return nodes_; }

  LinkRows::Row row(std::uint32_t node) { return links_.row(node, fan_cap_, room_); }

  // Whether two edges of a row may lead to one node without being in order.
  static constexpr bool kMayBeUnordered = false;

  void look_ahead(const std::vector<Passing>& frontier, std::size_t at,
                  const std::uint32_t* places) const {
    constexpr std::size_t kRows = 16, kEdges = 8, kTargets = 3;
    if (at + kRows < frontier.size()) links_.prefetch_row(frontier[at + kRows].node);
    if (at + kEdges < frontier.size()) links_.prefetch_edges(frontier[at + kEdges].node, fan_cap_);
    if (at + kTargets >= frontier.size()) return;
    const Span<const LinkEdge> edges = links_.first_run(frontier[at + kTargets].node);
    const std::size_t some = std::min({edges.size, fan_cap_, kMostTargets});
    for (std::size_t i = 0; i < some; ++i) prefetch(places + edges[i].target);
  }

 private:
  static constexpr std::size_t kMostTargets = 64;

  const LinkRows& links_;
  std::size_t nodes_;
  std::size_t fan_cap_;
  std::vector<LinkEdge> room_;
};

// Rows of a matrix, checked and copied as they are read.
class MatrixRows {
 public:
  struct Row {
    Edge* edges;
    std::size_t size;
    double mass;
  };

  MatrixRows(const Adjacency& graph, std::size_t fan_cap) : graph_(graph), row_(fan_cap) {}

  std::size_t nodes() const { return graph_.nodes(); }

  Row row(std::uint32_t node) {
    graph_.read(node, row_);
    return {row_.edges().data(), row_.edges().size(), row_.mass()};
  }

  static constexpr bool kMayBeUnordered = true;

  void look_ahead(const std::vector<Passing>& frontier, std::size_t at,
                  const std::uint32_t* /*places*/) const {
    constexpr std::size_t kOffsets = 8, kEdges = 4;
    if (at + kOffsets < frontier.size()) graph_.prefetch_offsets(frontier[at + kOffsets].node);
    if (at + kEdges < frontier.size()) graph_.prefetch_edges(frontier[at + kEdges].node);
  }

 private:
  const Adjacency& graph_;
  OutEdges row_;
};

template <typename Rows>
class Spreading {
 public:
  Spreading(Rows& rows, const Seeds& seeds, const SpreadRules& rules, SpreadScratch& scratch)
      : rows_(rows), seeds_(seeds), rules_(rules), scratch_(scratch) {
    if (rows.nodes() >= std::numeric_limits<std::uint32_t>::max()) {
      throw ValueError("graph", "less than 2^32 - 1 nodes", std::to_string(rows.nodes()));
    }
    scratch.fit(rows.nodes());
    make_room(0);
  }
  Spreading(const Spreading&) = delete;
  Spreading& operator=(const Spreading&) = delete;
  // Also when a row was refused half way.
  ~Spreading() { forget(); }

  Activation run() {
    scratch_.frontier.clear();
    seed();
    int hops = 0;
    while (hops < rules_.depth && !scratch_.frontier.empty()) hop(hops++);
    return result(hops);
  }

 private:
  // --- seeds

  void seed() {
    make_room(seeds_.nodes.size);
    for (std::size_t i = 0; i < seeds_.nodes.size; ++i) {
      const std::int64_t node = seeds_.nodes[i];
      const double activation = seeds_.activation[i];
      check_seed(node, activation);
      if (scratch_.places.data()[node] != 0) {
        throw ValueError("seeds", "distinct nodes", std::to_string(node) + " twice");
      }
      set_aside(node);
      if (!seeds_.mask.allows(static_cast<std::size_t>(node)) || activation <= 0.0) continue;
      if (activation < rules_.threshold) continue;
      scratch_.frontier.push_back({activation, static_cast<std::uint32_t>(node)});
    }
    forget();
    if (rules_.seeds_receive) return;
    for (std::size_t i = 0; i < seeds_.nodes.size; ++i) {
      if (seeds_.activation[i] > 0.0) set_aside(seeds_.nodes[i]);
    }
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

  // Gives a node a place and keeps it from taking part.
  void set_aside(std::int64_t node) {
    scratch_.places.data()[node] = count_;
    scratch_.reached[count_++] = {kNothingYet, kTakesNoPart, kSettled,
                                  static_cast<std::uint32_t>(node), 0};
  }

  void forget() {
    std::uint32_t* const places = scratch_.places.data();
    for (std::uint32_t i = 1; i < count_; ++i) places[scratch_.reached[i].node] = 0;
    count_ = 1;
  }

  // --- one hop

  void hop(int number) {
    sort_by_node(scratch_.frontier, scratch_.frontier_room, rows_.nodes());
    first_fresh_ = first_of_hop_[static_cast<std::size_t>(number)] = count_;
    again_ = 0;
    const std::vector<Passing>& frontier = scratch_.frontier;
    for (std::size_t i = 0; i < frontier.size(); ++i) {
      rows_.look_ahead(frontier, i, scratch_.places.data());
      pass(frontier[i]);
    }
    first_of_hop_[static_cast<std::size_t>(number) + 1] = count_;
    settle();
  }

  void pass(const Passing& source) {
    auto row = rows_.row(source.node);
    make_room(row.size);
    if constexpr (Rows::kMayBeUnordered) {
      // Parallel edges add up heaviest first; without any, the order within a row changes no sum.
      if (!rises(row) && holds_parallel(row)) std::sort(row.edges, row.edges + row.size, Heavier());
    }
    const double amount = source.activation * rules_.hop_decay;
    const double scale = rules_.fan_normalise && row.mass > 1.0 ? 1.0 / row.mass : 1.0;
    receive(row, amount, scale, source.node);
  }

  // Free of branches: which targets are new, and which gain again, follows no pattern.
  template <typename Row>
  void receive(const Row& row, double amount, double scale, std::uint32_t from) {
    std::uint32_t* const places = scratch_.places.data();
    Reached* const reached = scratch_.reached.data();
    std::uint32_t* const again = scratch_.again.data();
    std::uint32_t count = count_, repeated = again_;
    for (std::size_t i = 0; i < row.size; ++i) {
      const double gain = amount * (static_cast<double>(row.edges[i].weight) * scale);
      const auto node = static_cast<std::uint32_t>(row.edges[i].target);
      const std::uint32_t known = places[node];
      const std::uint32_t place = known == 0 ? count : known;
      places[node] = place;
      reached[count] = {0.0, 0.0, kNothingYet, node, 0};
      count += known == 0;

      Reached& one = reached[place];
      again[repeated] = place;
      repeated += one.arriving < 0.0;
      one.arriving = std::min(std::max(one.arriving, 0.0) + gain, kLargest);
      const bool better = gain > one.best;
      one.best = better ? gain : one.best;
      one.parent = better ? from : one.parent;
    }
    count_ = count;
    again_ = repeated;
  }

  // Whether each edge of a row leads to a higher node than the one before it.
  template <typename Row>
  static bool rises(const Row& row) {
    bool rising = true;
    for (std::size_t i = 1; i < row.size; ++i) {
      rising &= row.edges[i - 1].target < row.edges[i].target;
    }
    return rising;
  }

  // Whether two edges of a row share a target. Gives every target its place.
  template <typename Row>
  bool holds_parallel(const Row& row) {
    scratch_.last_row.resize(scratch_.reached.size());
    std::uint32_t* const places = scratch_.places.data();
    bool parallel = false;
    const std::uint32_t row_number = ++scratch_.rows_seen;
    for (std::size_t i = 0; i < row.size; ++i) {
      const auto node = static_cast<std::uint32_t>(row.edges[i].target);
      std::uint32_t& place = places[node];
      if (place == 0) {
        place = count_++;
        scratch_.reached[place] = {0.0, 0.0, kNothingYet, node, 0};
        scratch_.last_row[place] = 0;
      }
      parallel |= scratch_.last_row[place] == row_number;
      scratch_.last_row[place] = row_number;
    }
    return parallel;
  }

  // For a row of so many edges: receive() writes one entry ahead.
  void make_room(std::size_t edges) {
    const std::size_t least = count_ + edges + 1;
    std::vector<Reached>& reached = scratch_.reached;
    if (least > reached.size()) reached.resize(std::max(least, 2 * reached.size()));
    std::vector<std::uint32_t>& again = scratch_.again;
    if (again_ + edges + 1 > again.size())
      again.resize(std::max(again_ + edges + 1, 2 * again.size()));
  }

  // --- the end of a hop

  void settle() {
    std::vector<Reached>& reached = scratch_.reached;
    scratch_.frontier.clear();
    scratch_.fresh.clear();
    for (std::uint32_t place = first_fresh_; place < count_; ++place) {
      const bool allowed = seeds_.mask.allows(reached[place].node);
      reached[place].total = allowed ? 0.0 : kTakesNoPart;
      if (allowed) scratch_.fresh.push_back(place);
    }
    cut_to_node_cap();
    for (const std::uint32_t place : scratch_.fresh) settle(reached[place]);
    for (std::uint32_t i = 0; i < again_; ++i) settle(reached[scratch_.again[i]]);
    for (std::uint32_t place = first_fresh_; place < count_; ++place) {
      reached[place].arriving = kNothingYet;
      reached[place].best = kSettled;
    }
  }

  // Drops the weakest new arrivals beyond the cap. A node dropped once stays out: from then on
  // the cap is used up.
  void cut_to_node_cap() {
    if (rules_.node_cap == 0) return;
    std::vector<std::uint32_t>& fresh = scratch_.fresh;
    const std::size_t left = rules_.node_cap - counted_;
    if (fresh.size() > left) {
      const auto cut = fresh.begin() + static_cast<std::ptrdiff_t>(left);
      std::nth_element(fresh.begin(), cut, fresh.end(), [this](std::uint32_t a, std::uint32_t b) {
        const Reached &x = scratch_.reached[a], &y = scratch_.reached[b];
        return x.arriving != y.arriving ? x.arriving > y.arriving : x.node < y.node;
      });
      for (auto it = cut; it != fresh.end(); ++it) scratch_.reached[*it].total = kTakesNoPart;
      fresh.erase(cut, fresh.end());
    }
    counted_ += fresh.size();
  }

  void settle(Reached& one) {
    if (one.total >= 0.0) {
      one.total += one.arriving;
      if (one.arriving >= rules_.threshold) scratch_.frontier.push_back({one.arriving, one.node});
    }
    one.arriving = kNothingYet;
  }

  // --- the result

  Activation result(int hops) {
    std::vector<Activated>& activated = scratch_.activated;
    activated.clear();
    const std::uint32_t end = first_of_hop_[static_cast<std::size_t>(hops)];
    for (std::uint32_t place = first_of_hop_[0]; place < end; ++place) {
      const Reached& one = scratch_.reached[place];
      if (one.total < 0.0) continue;
      activated.push_back({falling_key(std::min(one.total, 1.0)), one.node, place});
    }
    sort_by_activation(activated, scratch_.activated_room, scratch_.bucket_ends, rows_.nodes());
    Activation out;
    out.nodes.reserve(activated.size());
    out.activation.reserve(activated.size());
    out.parent.reserve(activated.size());
    out.hop.reserve(activated.size());
    for (const Activated& one : activated) {
      out.nodes.push_back(one.node);
      out.activation.push_back(activation_of(one.key));
      out.parent.push_back(scratch_.reached[one.place].parent);
      out.hop.push_back(hop_of(one.place));
    }
    return out;
  }

  std::int32_t hop_of(std::uint32_t place) const {
    std::int32_t hop = 1;
    while (place >= first_of_hop_[static_cast<std::size_t>(hop)]) ++hop;
    return hop;
  }

  Rows& rows_;
  const Seeds& seeds_;
  const SpreadRules& rules_;
  SpreadScratch& scratch_;
  std::uint32_t count_ = 1;        // places given out, place 0 among them
  std::uint32_t again_ = 0;        // entries of scratch_.again at this hop
  std::uint32_t first_fresh_ = 1;  // the first place given out at this hop
  std::size_t counted_ = 0;        // nodes reached, while there is a node cap
  std::array<std::uint32_t, kMaxDepth + 1> first_of_hop_{};
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
