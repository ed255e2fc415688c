// Ranking by reading float32 rows: the plain way, and the best for few rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/clamped.h"
#include "core/dispatch.h"
#include "core/padded_queries.h"
#include "core/scan_rows.h"
#include "core/topk.h"

namespace ebb {

// One pass over the rows for a batch of queries that share their columns.
template <typename Score>
class OneStage {
 public:
  OneStage(const ScanRows<Score>& rows, const PaddedQueries& queries)
      : rows_(rows), queries_(queries), best_(queries.count(), TopK(rows.k)) {}

  bool wants(double bound) const {
    return std::any_of(best_.begin(), best_.end(),
                       [bound](const TopK& best) { return !(bound < best.entry_score()); });
  }

  void open(const Block& block) {
    for (std::size_t q = 0; q < best_.size(); ++q) {
      if (!(block.bound < best_[q].entry_score())) rank(block, q);
    }
  }

  std::vector<TopK> take() && { return std::move(best_); }

 private:
  void rank(const Block& block, std::size_t q) {
    std::size_t chosen[kBlockRows];
    const std::size_t count = rows_.choose(block, best_[q].entry_score(), chosen);
    // Reading on is faster than jumping unless most rows are skipped.
    const bool whole = count * 4 > block.count;
    float dots[kBlockRows];
    if (whole) dot(q, block.first, block.count, dots);
    for (std::size_t i = 0; i < count; ++i) {
      float one = 0.0f;
      if (!whole) dot(q, chosen[i], 1, &one);
      rows_.offer(best_[q], chosen[i], clamped(whole ? dots[chosen[i] - block.first] : one));
    }
  }

  void dot(std::size_t q, std::size_t first, std::size_t count, float* out) const {
    kernels_.dot_rows(queries_[q], rows_.view.row(first), rows_.padded_dim, count, rows_.padded_dim,
                      out);
  }

  const ScanRows<Score>& rows_;
  const PaddedQueries& queries_;
  const KernelTable& kernels_ = active();
  std::vector<TopK> best_;
};

}  // namespace ebb
