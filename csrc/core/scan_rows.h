// What a scan ranks: the rows of an arena, their scores, which of them take part, and in which
// order blocks of them are read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/arena.h"
#include "core/scan.h"
#include "core/topk.h"

namespace ebb {

// A block is at most this large: small enough that it can be skipped often, large enough that
// choosing one costs little.
constexpr std::size_t kBlockRows = 256;

// Rows of one chunk; none scores more than `bound`.
struct Block {
  double bound;
  std::size_t first;
  std::size_t count;
};

inline bool opens_later(const Block& a, const Block& b) { return a.bound < b.bound; }

// Score: see core/scores.h.
template <typename Score>
class ScanRows {
 public:
  ScanRows(const Arena& arena, const Arena::View& rows, const Score& score,
           const Selection& selection)
      : view(rows),
        score(score),
        padded_dim(arena.padded_dim()),
        code_dim(arena.code_dim()),
        k(selection.k),
        newness_(selection.newness ? selection.newness->data : nullptr),
        mask_(selection.mask ? selection.mask->data : nullptr),
        block_rows_(std::min(kBlockRows, arena.rows_per_chunk())) {}

  bool admits(std::size_t slot) const {
    return view.alive(slot) && (mask_ == nullptr || mask_[slot]);
  }

  // Every row matters alike: no reason to look at them one by one before reading them.
  bool uniform() const { return score.flat() && mask_ == nullptr; }

  // Collects in `chosen` the rows of a block that may score at least `entry`; returns how many.
  std::size_t choose(const Block& block, double entry, std::size_t* chosen) const {
    std::size_t count = 0;
    for (std::size_t slot = block.first; slot < block.first + block.count; ++slot) {
      chosen[count] = slot;
      count += admits(slot) && !(score.bound(slot) < entry) ? 1 : 0;
    }
    return count;
  }

  void offer(TopK& best, std::size_t slot, float dot) const {
    const double entry = best.entry_score();
    if (score.hopeless(slot, dot, entry)) return;
    const double reached = score.of(slot, dot);
    if (reached < entry) return;
    const auto number = static_cast<std::int64_t>(slot);
    best.offer({reached, newness_ ? newness_[slot] : number, number, dot});
  }

  // Hands `ranking` the blocks: in order when all have one bound, otherwise the highest first and
  // only while it wants them.
  template <typename Ranking>
  void read_into(Ranking& ranking) const {
    if (score.flat()) {
      read_in_order(ranking);
    } else {
      read_by_bound(ranking);
    }
  }

  const Arena::View& view;
  const Score score;
  const std::size_t padded_dim;
  const std::size_t code_dim;
  const std::size_t k;

 private:
  template <typename Ranking>
  void read_in_order(Ranking& ranking) const {
    constexpr double kNoBound = std::numeric_limits<double>::infinity();
    for (std::size_t first = 0; first < view.size(); first += block_rows_) {
      ranking.open({kNoBound, first, std::min(block_rows_, view.size() - first)});
    }
  }

  template <typename Ranking>
  void read_by_bound(Ranking& ranking) const {
    std::vector<Block> waiting = bounded_blocks();
    std::make_heap(waiting.begin(), waiting.end(), opens_later);
    while (!waiting.empty() && ranking.wants(waiting.front().bound)) {
      std::pop_heap(waiting.begin(), waiting.end(), opens_later);
      ranking.open(waiting.back());
      waiting.pop_back();
    }
  }

  std::vector<Block> bounded_blocks() const {
    std::vector<Block> blocks;
    blocks.reserve(view.size() / block_rows_ + 1);
    for (std::size_t first = 0; first < view.size(); first += block_rows_) {
      const std::size_t count = std::min(block_rows_, view.size() - first);
      double bound = -std::numeric_limits<double>::infinity();
      bool any = false;
      for (std::size_t slot = first; slot < first + count; ++slot) {
        if (!admits(slot)) continue;
        any = true;
        bound = std::max(bound, score.bound(slot));
      }
      if (any) blocks.push_back({bound, first, count});
    }
    return blocks;
  }

  const std::int64_t* const newness_;
  const Truth* const mask_;
  const std::size_t block_rows_;
};

}  // namespace ebb
