#include "core/spread.h"

#include <algorithm>
#include <limits>

#include "core/index_map.h"

namespace ebb {

namespace {

constexpr int kMaxDepth = 8;
// Sums stop here, so that a graph of huge weights yields no infinity, and then no NaN.
constexpr double kLargest = std::numeric_limits<double>::max();

struct Reached {
  std::int64_t node;
  double arriving = 0.0;  // at hop `stamp`
  double total = 0.0;
  double best = -1.0;  // largest single contribution at the hop of first arrival
  std::int64_t parent = -1;
  std::int32_t hop = 0;  // of first arrival; 0 while that hop is not settled
  std::int32_t stamp = 0;
  std::uint64_t row = 0;  // the last row of edges that led here
};

// An edge that counts, with the place of its target in the table of reached nodes.
struct Arrival {
  double weight;
  std::uint32_t place;
};

struct Passing {
  std::int64_t node;
  double activation;
};

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

class Spreading {
 public:
  Spreading(const Adjacency& graph, RowMask mask, const SpreadRules& rules)
      : graph_(graph), mask_(mask), rules_(rules), row_(rules.fan_cap) {}

  void seed(Span<const std::int64_t> seeds, Span<const double> activation) {
    seed_activation_ = activation;
    for (std::size_t i = 0; i < seeds.size; ++i) {
      check_seed(seeds[i], activation[i]);
      if (seeds_.insert(static_cast<std::uint64_t>(seeds[i])) != i) {
        throw ValueError("seeds", "distinct nodes", std::to_string(seeds[i]) + " twice");
      }
      if (!mask_.allows(static_cast<std::size_t>(seeds[i])) || activation[i] <= 0.0) continue;
      if (activation[i] >= rules_.threshold) frontier_.push_back({seeds[i], activation[i]});
    }
  }

  void hop(int number) {
    std::sort(frontier_.begin(), frontier_.end(),
              [](const Passing& a, const Passing& b) { return a.node < b.node; });
    arrived_.clear();
    for (const Passing& source : frontier_) pass(source, number);
    cut_to_node_cap();
    settle(number);
  }

  Activation result() const {
    struct Entry {
      double activation;
      std::int64_t node;
      const Reached* reached;
    };
    std::vector<Entry> entries;
    entries.reserve(counted_);
    for (const Reached& reached : reached_) {
      if (reached.hop > 0)
        entries.push_back({std::min(reached.total, 1.0), reached.node, &reached});
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.activation != b.activation ? a.activation > b.activation : a.node < b.node;
    });
    Activation out;
    for (const Entry& entry : entries) {
      out.nodes.push_back(entry.node);
      out.activation.push_back(entry.activation);
      out.parent.push_back(entry.reached->parent);
      out.hop.push_back(entry.reached->hop);
    }
    return out;
  }

 private:
  void check_seed(std::int64_t node, double activation) const {
    if (node < 0 || static_cast<std::uint64_t>(node) >= graph_.nodes()) {
      throw ValueError("seeds", "nodes from 0 to below " + std::to_string(graph_.nodes()),
                       std::to_string(node));
    }
    if (!(activation >= 0.0 && activation <= kLargest)) {
      throw ValueError("seed_activation", "finite values of at least 0",
                       std::to_string(activation));
    }
  }

  void pass(const Passing& source, int hop_number) {
    graph_.read(static_cast<std::size_t>(source.node), row_);
    const double scale = rules_.fan_normalise && row_.mass() > 1.0 ? 1.0 / row_.mass() : 1.0;
    // Parallel edges add up heaviest first; without any, the order within a row changes no sum.
    if (locate()) {
      row_.sort();
      locate();
    }
    for (const Arrival& arrival : arrivals_) {
      const double gain = source.activation * rules_.hop_decay * (arrival.weight * scale);
      receive(arrival.place, gain, source.node, hop_number);
    }
  }

  // Finds the place of every target that may receive. Returns whether two edges share a target.
  bool locate() {
    arrivals_.clear();
    ++rows_;
    bool parallel = false;
    for (const Edge& edge : row_.edges()) {
      if (!may_receive(edge.target)) continue;
      const std::uint32_t place = index_.insert(static_cast<std::uint64_t>(edge.target));
      if (place == reached_.size()) reached_.push_back(Reached{edge.target});
      parallel = parallel || reached_[place].row == rows_;
      reached_[place].row = rows_;
      arrivals_.push_back({edge.weight, place});
    }
    return parallel;
  }

  bool may_receive(std::int64_t node) const {
    if (!mask_.allows(static_cast<std::size_t>(node))) return false;
    if (rules_.seeds_receive) return true;
    const std::uint32_t seed = seeds_.find(static_cast<std::uint64_t>(node));
    return seed == IndexMap::kAbsent || seed_activation_[seed] <= 0.0;
  }

  void receive(std::uint32_t place, double gain, std::int64_t from, int hop_number) {
    Reached& reached = reached_[place];
    if (reached.stamp != hop_number) {
      reached.stamp = hop_number;
      reached.arriving = 0.0;
      arrived_.push_back(place);
    }
    reached.arriving = std::min(reached.arriving + gain, kLargest);
    if (reached.hop == 0 && gain > reached.best) {
      reached.best = gain;
      reached.parent = from;
    }
  }

  // Drops the weakest new arrivals beyond the cap. A node dropped once stays out: from then on
  // the cap is used up.
  void cut_to_node_cap() {
    if (rules_.node_cap == 0) return;
    const auto fresh = std::partition(arrived_.begin(), arrived_.end(),
                                      [this](std::uint32_t i) { return reached_[i].hop > 0; });
    const std::size_t left = rules_.node_cap - counted_;
    if (static_cast<std::size_t>(arrived_.end() - fresh) <= left) return;
    const auto cut = fresh + static_cast<std::ptrdiff_t>(left);
    std::nth_element(fresh, cut, arrived_.end(), [this](std::uint32_t a, std::uint32_t b) {
      const Reached &x = reached_[a], &y = reached_[b];
      return x.arriving != y.arriving ? x.arriving > y.arriving : x.node < y.node;
    });
    arrived_.erase(cut, arrived_.end());
  }

  void settle(int hop_number) {
    frontier_.clear();
    for (const std::uint32_t i : arrived_) {
      Reached& reached = reached_[i];
      if (reached.hop == 0) {
        reached.hop = hop_number;
        ++counted_;
      }
      reached.total += reached.arriving;
      if (reached.arriving >= rules_.threshold) {
        frontier_.push_back({reached.node, reached.arriving});
      }
    }
  }

  const Adjacency& graph_;
  RowMask mask_;
  const SpreadRules& rules_;
  Span<const double> seed_activation_;
  IndexMap seeds_;                // seed -> its position among the seeds
  IndexMap index_;                // node -> its position in reached_
  std::vector<Reached> reached_;  // in order of discovery, also those cut off
  std::vector<std::uint32_t> arrived_;
  std::vector<Passing> frontier_;
  std::vector<Arrival> arrivals_;
  std::size_t counted_ = 0;  // nodes reached, of those in reached_
  std::uint64_t rows_ = 0;   // rows located so far
  OutEdges row_;
};

}  // namespace

Activation spread(const Adjacency& graph, Span<const std::int64_t> seeds,
                  Span<const double> seed_activation, RowMask mask, const SpreadRules& rules) {
  check_rules(rules);
  Spreading spreading(graph, mask, rules);
  spreading.seed(seeds, seed_activation);
  for (int number = 1; number <= rules.depth; ++number) spreading.hop(number);
  return spreading.result();
}

}  // namespace ebb
