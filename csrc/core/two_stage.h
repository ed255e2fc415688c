// Ranking in two stages: codes of 8 bits say which rows can be among the k best, float32 rows which
// of those are. A block's codes are read row after row, for the memory follows one stream best.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/block_reach.h"
#include "core/candidates.h"
#include "core/clamped.h"
#include "core/code_panels.h"
#include "core/codes.h"
#include "core/dispatch.h"
#include "core/padded_queries.h"
#include "core/scan_rows.h"
#include "core/topk.h"

namespace ebb {

// One pass over the codes for a batch of queries that share their columns.
template <typename Score>
class TwoStage {
 public:
  TwoStage(const ScanRows<Score>& rows, const PaddedQueries& queries)
      : rows_(rows),
        queries_(queries),
        coded_(coded(rows, queries)),
        rough_(in_panels() ? for_panels() : std::vector<CodedQuery>()),
        panels_({rough_.data(), rough_.size()}),
        dots_(kPanelQueries * kBlockRows),
        candidates_(queries.count(), Candidates(rows.k)) {}

  bool wants(double bound) const { return !(bound < lowest_floor()); }

  void open(const Block& block) {
    const double floor = lowest_floor();
    if (rows_.uniform()) {
      read_whole(block, floor);
      return;
    }
    std::size_t chosen[kBlockRows];
    const std::size_t count = rows_.choose(block, floor, chosen);
    // Reading on is faster than jumping unless most rows are skipped.
    if (count * 4 > block.count) {
      read_whole(block, floor);
    } else if (count > 0) {
      read_some(chosen, count);
    }
  }

  std::vector<TopK> take() && {
    std::vector<TopK> best;
    for (std::size_t q = 0; q < candidates_.size(); ++q) {
      settle(q);
      best.push_back(std::move(candidates_[q]).take());
    }
    return best;
  }

 private:
  // Below this, a panel that is mostly empty costs more than reading the block again.
  static constexpr std::size_t kLeastForPanels = 4;

  static std::vector<CodedQuery> coded(const ScanRows<Score>& rows, const PaddedQueries& queries) {
    std::vector<CodedQuery> coded;
    coded.reserve(queries.count());
    for (std::size_t q = 0; q < queries.count(); ++q) {
      coded.emplace_back(queries[q], rows.padded_dim, rows.code_dim);
    }
    return coded;
  }

  std::vector<CodedQuery> for_panels() const {
    std::vector<CodedQuery> rough;
    rough.reserve(coded_.size());
    for (std::size_t q = 0; q < coded_.size(); ++q) {
      rough.push_back(
          coded_for_panel(queries_[q], rows_.padded_dim, coded_[q], kernels_.tile_limit));
    }
    return rough;
  }

  bool in_panels() const { return coded_.size() >= kLeastForPanels; }

  bool is_rough(std::size_t q) const { return in_panels() && rough_[q].levels() < kMaxLevels; }

  double lowest_floor() const {
    double lowest = std::numeric_limits<double>::infinity();
    for (const Candidates& rows : candidates_) lowest = std::min(lowest, rows.floor());
    return lowest;
  }

  void read_whole(const Block& block, double floor) {
    const BlockReach<Score> reach(rows_, block, floor);
    for (std::size_t q = 0; q < coded_.size(); ++q) {
      const std::size_t place = in_panels() ? q % kPanelQueries : 0;
      if (place == 0) multiply(block, q);
      if (block.bound < candidates_[q].floor()) continue;
      const std::int32_t* const dots = dots_.data() + place * kBlockRows;
      reach.visit(in_panels() ? rough_[q] : coded_[q], dots, candidates_[q].floor(),
                  [&](std::size_t i) {
                    const std::size_t slot = block.first + i;
                    consider(q, slot, is_rough(q) ? fine_dot(q, slot) : dots[i]);
                  });
    }
  }

  // Integer dots of the block's rows with query q, or with the panel that it begins.
  void multiply(const Block& block, std::size_t q) {
    const std::int8_t* const codes = rows_.view.codes(block.first);
    const std::size_t dim = rows_.code_dim;
    if (in_panels()) {
      kernels_.dot_tile(panels_[q / kPanelQueries], codes, dim, block.count, dim, dots_.data(),
                        kBlockRows);
    } else {
      kernels_.dot_codes(coded_[q].codes(), codes, dim, block.count, dim, dots_.data());
    }
  }

  // With the query's finer codes: what is in cache yet spares most reads of float32 rows, which are
  // not.
  std::int32_t fine_dot(std::size_t q, std::size_t slot) const {
    std::int32_t dot = 0;
    kernels_.dot_codes(coded_[q].codes(), rows_.view.codes(slot), rows_.code_dim, 1, rows_.code_dim,
                       &dot);
    return dot;
  }

  void read_some(const std::size_t* chosen, std::size_t count) {
    const std::int8_t* codes[kBlockRows];
    for (std::size_t i = 0; i < count; ++i) codes[i] = rows_.view.codes(chosen[i]);
    for (std::size_t q = 0; q < coded_.size(); ++q) {
      kernels_.dot_codes_at(coded_[q].codes(), codes, count, rows_.code_dim, dots_.data());
      for (std::size_t i = 0; i < count; ++i) consider(q, chosen[i], dots_.data()[i]);
    }
  }

  void consider(std::size_t q, std::size_t slot, std::int32_t dot) {
    Candidates& candidates = candidates_[q];
    if (!rows_.admits(slot)) return;
    const DotRange range = coded_[q].range(dot, rows_.view.bound(slot));
    const double upper = rows_.score.highest(slot, range);
    if (upper < candidates.floor()) return;
    candidates.add(static_cast<std::int64_t>(slot), rows_.score.lowest(slot, range), upper);
    if (candidates.crowded()) settle(q);
  }

  void settle(std::size_t q) {
    candidates_[q].settle([&](TopK& best, std::size_t slot) {
      float dot = 0.0f;
      kernels_.dot_rows(queries_[q], rows_.view.row(slot), rows_.padded_dim, 1, rows_.padded_dim,
                        &dot);
      rows_.offer(best, slot, clamped(dot));
    });
  }

  const ScanRows<Score>& rows_;
  const PaddedQueries& queries_;
  const KernelTable& kernels_ = active();
  const std::vector<CodedQuery> coded_;
  const std::vector<CodedQuery> rough_;  // of as many levels as panels allow
  const CodePanels panels_;
  Buffer<std::int32_t> dots_;
  std::vector<Candidates> candidates_;
};

}  // namespace ebb
