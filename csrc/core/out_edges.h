// The edges of positive weight that leave one node, as many as may be used: the heaviest, then
// the lowest targets.
//
// A node may have very many edges and use few. Once twice as many as may be used are held, the
// better half stays and sets a bar below which later edges are passed over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ebb {

struct Edge {
  double weight;
  std::int64_t target;
};

struct Heavier {
  bool operator()(const Edge& a, const Edge& b) const {
    return a.weight != b.weight ? a.weight > b.weight : a.target < b.target;
  }
};

class OutEdges {
 public:
  // cap 0: all may be used.
  explicit OutEdges(std::size_t cap)
      : cap_(cap == 0 ? kEndless : cap), room_(cap_ > kEndless / 2 ? kEndless : 2 * cap_) {}

  void clear() {
    edges_.clear();
    mass_ = 0.0;
    bar_ = 0.0;
  }

  // `edge` of positive weight.
  void add(const Edge& edge) {
    mass_ += edge.weight;
    if (edge.weight < bar_) return;
    edges_.push_back(edge);
    if (edges_.size() == room_) keep_best();
  }

  // To be called after the last edge.
  void finish() {
    if (edges_.size() > cap_) keep_best();
  }

  // The edges that may be used, in no particular order.
  std::vector<Edge>& edges() { return edges_; }

  // Sum of the weights of all edges, used or not, in the order in which they came.
  double mass() const { return mass_; }

 private:
  static constexpr std::size_t kEndless = std::numeric_limits<std::size_t>::max();

  void keep_best() {
    const auto last = edges_.begin() + static_cast<std::ptrdiff_t>(cap_ - 1);
    std::nth_element(edges_.begin(), last, edges_.end(), Heavier());
    bar_ = last->weight;
    edges_.erase(last + 1, edges_.end());
  }

  std::size_t cap_;
  std::size_t room_;
  std::vector<Edge> edges_;
  double mass_ = 0.0;
  double bar_ = 0.0;
};

}  // namespace ebb
