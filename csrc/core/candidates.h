// The rows of a scan that may still be among the k best of one query, as bounds tell.
//
// A row is kept while its upper bound reaches the floor: the k-th best lower bound so far, or the
// k-th best score of those settled. No row of the final k best is ever below it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "core/topk.h"

namespace ebb {

class Candidates {
 public:
  struct Row {
    double upper;
    std::int64_t slot;
  };

  explicit Candidates(std::size_t k) : k_(k), best_(k) {}

  double floor() const { return floor_; }

  // The row's upper bound must not be below the floor.
  void add(std::int64_t slot, double lower, double upper) {
    rows_.push_back({upper, slot});
    if (lowers_.size() < k_) {
      lowers_.push_back(lower);
      std::push_heap(lowers_.begin(), lowers_.end(), std::greater<>());
    } else if (lower > lowers_.front()) {
      std::pop_heap(lowers_.begin(), lowers_.end(), std::greater<>());
      lowers_.back() = lower;
      std::push_heap(lowers_.begin(), lowers_.end(), std::greater<>());
    }
    if (lowers_.size() == k_) floor_ = std::max(floor_, lowers_.front());
  }

  // Time to settle: exact scores raise the floor to where fewer rows reach it, and where many rows
  // are as good as one another, bounds never part them.
  bool crowded() const { return rows_.size() >= std::max(kCrowd, 4 * k_); }

  // Offers rows to the k best by their exact scores, the most promising first, as far as any can
  // still enter. `offer` takes the k best and a slot.
  template <typename Offer>
  void settle(const Offer& offer) {
    const double floor = floor_;
    rows_.erase(std::remove_if(rows_.begin(), rows_.end(),
                               [floor](const Row& row) { return row.upper < floor; }),
                rows_.end());
    std::sort(rows_.begin(), rows_.end(),
              [](const Row& a, const Row& b) { return a.upper > b.upper; });
    for (const Row& row : rows_) {
      if (row.upper < best_.entry_score()) break;
      offer(best_, static_cast<std::size_t>(row.slot));
    }
    rows_.clear();
    floor_ = std::max(floor_, best_.entry_score());
  }

  // After settling.
  TopK take() && { return std::move(best_); }

 private:
  static constexpr std::size_t kCrowd = 64;

  std::size_t k_;
  double floor_ = -std::numeric_limits<double>::infinity();
  std::vector<double> lowers_;  // the least in front
  std::vector<Row> rows_;
  TopK best_;
};

}  // namespace ebb
