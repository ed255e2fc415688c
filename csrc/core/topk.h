// The k best of a stream of scored rows, in a heap of at most k.
//
// Order: higher score, then newer, then lower slot. No two rows share a slot, so the order is
// total and the result does not depend on the order of the stream.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace ebb {

struct Scored {
  double score;  // never NaN
  std::int64_t newness;
  std::int64_t slot;
  double dot;
};

inline bool ranks_before(const Scored& a, const Scored& b) {
  if (a.score != b.score) return a.score > b.score;
  if (a.newness != b.newness) return a.newness > b.newness;
  return a.slot < b.slot;
}

class TopK {
 public:
  // k >= 1 may be larger than the stream: room is made as rows come.
  explicit TopK(std::size_t k) : k_(k) {}

  // From then on only a row that ranks before one of those kept gets in.
  bool full() const { return heap_.size() >= k_; }

  // A row that scores less than this cannot enter; one that scores the same may, if it is newer.
  double entry_score() const {
    return heap_.size() < k_ ? -std::numeric_limits<double>::infinity() : heap_.front().score;
  }

  void offer(const Scored& row) {
    if (heap_.size() < k_) {
      heap_.push_back(row);
      std::push_heap(heap_.begin(), heap_.end(), ranks_before);
    } else if (ranks_before(row, heap_.front())) {
      std::pop_heap(heap_.begin(), heap_.end(), ranks_before);
      heap_.back() = row;
      std::push_heap(heap_.begin(), heap_.end(), ranks_before);
    }
  }

  // The rows kept, best first.
  std::vector<Scored> take() && {
    std::sort_heap(heap_.begin(), heap_.end(), ranks_before);
    return std::move(heap_);
  }

 private:
  std::size_t k_;
  std::vector<Scored> heap_;  // the worst row kept is in front
};

}  // namespace ebb
