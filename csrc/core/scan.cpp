#include "core/scan.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "core/buffer.h"
#include "core/dispatch.h"
#include "core/errors.h"
#include "core/finite.h"
#include "core/scores.h"
#include "core/topk.h"

namespace ebb {

namespace {

// Small enough that a block can be skipped often, large enough that choosing one costs little.
constexpr std::size_t kBlockRows = 256;

float clamped(float dot) { return dot > 1.0f ? 1.0f : dot >= -1.0f ? dot : -1.0f; }

struct Block {
  double bound;
  std::size_t first;
  std::size_t count;
};

bool opens_later(const Block& a, const Block& b) { return a.bound < b.bound; }

// Queries copied to rows of whole lanes.
class PaddedQueries {
 public:
  PaddedQueries(const QueryBatch& queries, std::size_t padded_dim)
      : padded_dim_(padded_dim), rows_(queries.count * padded_dim) {
    for (std::size_t q = 0; q < queries.count; ++q) {
      std::copy_n(queries.data + q * queries.dim, queries.dim, rows_.data() + q * padded_dim);
    }
  }

  const float* operator[](std::size_t q) const { return rows_.data() + q * padded_dim_; }

 private:
  std::size_t padded_dim_;
  Buffer<float> rows_;
};

// One pass over the rows for a batch of queries that share their columns.
template <typename Score>
class Scan {
 public:
  Scan(const Arena& arena, const Arena::View& rows, const QueryBatch& queries, const Score& score,
       const Selection& selection)
      : rows_(rows),
        queries_(queries, arena.padded_dim()),
        score_(score),
        newness_(selection.newness ? selection.newness->data : nullptr),
        mask_(selection.mask ? selection.mask->data : nullptr),
        padded_dim_(arena.padded_dim()),
        block_rows_(std::min(kBlockRows, arena.rows_per_chunk())),
        best_(queries.count, TopK(selection.k)) {}

  Ranked run() && {
    if (score_.flat()) {
      read_in_order();
    } else {
      read_by_bound();
    }
    return collect();
  }

 private:
  void read_in_order() {
    for (std::size_t first = 0; first < rows_.size(); first += block_rows_) {
      open({std::numeric_limits<double>::infinity(), first,
            std::min(block_rows_, rows_.size() - first)});
    }
  }

  void read_by_bound() {
    std::vector<Block> waiting = bounded_blocks();
    std::make_heap(waiting.begin(), waiting.end(), opens_later);
    while (!waiting.empty() && some_query_wants(waiting.front().bound)) {
      std::pop_heap(waiting.begin(), waiting.end(), opens_later);
      open(waiting.back());
      waiting.pop_back();
    }
  }

  std::vector<Block> bounded_blocks() const {
    std::vector<Block> blocks;
    blocks.reserve(rows_.size() / block_rows_ + 1);
    for (std::size_t first = 0; first < rows_.size(); first += block_rows_) {
      const std::size_t count = std::min(block_rows_, rows_.size() - first);
      double bound = -std::numeric_limits<double>::infinity();
      bool any = false;
      for (std::size_t slot = first; slot < first + count; ++slot) {
        if (!admits(slot)) continue;
        any = true;
        bound = std::max(bound, score_.bound(slot));
      }
      if (any) blocks.push_back({bound, first, count});
    }
    return blocks;
  }

  bool admits(std::size_t slot) const {
    return rows_.alive(slot) && (mask_ == nullptr || mask_[slot]);
  }

  bool some_query_wants(double bound) const {
    return std::any_of(best_.begin(), best_.end(),
                       [bound](const TopK& best) { return !(bound < best.entry_score()); });
  }

  void open(const Block& block) {
    for (std::size_t q = 0; q < best_.size(); ++q) {
      if (!(block.bound < best_[q].entry_score())) rank(block, q);
    }
  }

  void rank(const Block& block, std::size_t q) {
    const double entry = best_[q].entry_score();
    std::size_t chosen[kBlockRows];
    std::size_t count = 0;
    for (std::size_t slot = block.first; slot < block.first + block.count; ++slot) {
      chosen[count] = slot;
      count += admits(slot) && !(score_.bound(slot) < entry) ? 1 : 0;
    }
    // Reading on is faster than jumping unless most rows are skipped.
    const bool whole = count * 4 > block.count;
    float dots[kBlockRows];
    if (whole) dot(q, block.first, block.count, dots);
    for (std::size_t i = 0; i < count; ++i) {
      float one = 0.0f;
      if (!whole) dot(q, chosen[i], 1, &one);
      offer(best_[q], chosen[i], clamped(whole ? dots[chosen[i] - block.first] : one));
    }
  }

  void dot(std::size_t q, std::size_t first, std::size_t count, float* out) const {
    kernels_.dot_rows(queries_[q], rows_.row(first), padded_dim_, count, padded_dim_, out);
  }

  void offer(TopK& best, std::size_t slot, float dot) const {
    const double entry = best.entry_score();
    if (score_.hopeless(slot, dot, entry)) return;
    const double score = score_.of(slot, dot);
    if (score < entry) return;
    const auto number = static_cast<std::int64_t>(slot);
    best.offer({score, newness_ ? newness_[slot] : number, number, dot});
  }

  Ranked collect() {
    Ranked ranked;
    for (TopK& best : best_) {
      for (const Scored& row : std::move(best).take()) {
        ranked.slots.push_back(row.slot);
        ranked.scores.push_back(row.score);
        ranked.dots.push_back(row.dot);
      }
      ranked.ends.push_back(static_cast<std::int64_t>(ranked.slots.size()));
    }
    return ranked;
  }

  const Arena::View& rows_;
  const PaddedQueries queries_;
  const Score score_;
  const std::int64_t* const newness_;
  const bool* const mask_;
  const std::size_t padded_dim_;
  const std::size_t block_rows_;
  const KernelTable& kernels_ = active();
  std::vector<TopK> best_;
};

void check_length(std::size_t length, std::size_t rows, const char* argument) {
  if (length == rows) return;
  throw ShapeError(argument, std::to_string(rows) + " values, one per slot",
                   std::to_string(length));
}

void check_queries(const Arena& arena, const QueryBatch& queries) {
  if (queries.dim != arena.dim()) {
    throw ShapeError("query", std::to_string(arena.dim()) + " values", std::to_string(queries.dim));
  }
  check_finite(Span<const float>{queries.data, queries.count * queries.dim}, "query");
}

void check_selection(const Selection& selection, std::size_t rows) {
  if (selection.newness) check_length(selection.newness->size, rows, "newness");
  if (selection.mask) check_length(selection.mask->size, rows, "mask");
}

const double* checked_column(const Column& column, std::size_t rows, const char* argument) {
  if (!column) return nullptr;
  check_length(column->size, rows, argument);
  check_finite(*column, argument);
  return column->data;
}

}  // namespace

Ranked top_affine(const Arena& arena, QueryBatch queries, Column mul, Column add,
                  const Selection& selection) {
  check_queries(arena, queries);
  const Arena::View rows = arena.read();
  check_selection(selection, rows.size());
  const AffineScore score{checked_column(mul, rows.size(), "mul"),
                          checked_column(add, rows.size(), "add")};
  return Scan<AffineScore>(arena, rows, queries, score, selection).run();
}

Ranked top_product(const Arena& arena, QueryBatch queries, Span<const double> log_weight,
                   const Selection& selection) {
  check_queries(arena, queries);
  const Arena::View rows = arena.read();
  check_selection(selection, rows.size());
  check_length(log_weight.size, rows.size(), "log_weight");
  check_log_weights(log_weight, "log_weight");
  return Scan<ProductScore>(arena, rows, queries, ProductScore{log_weight.data}, selection).run();
}

std::vector<float> dots(const Arena& arena, QueryBatch query, Span<const std::int64_t> slots) {
  check_queries(arena, query);
  const PaddedQueries padded(query, arena.padded_dim());
  const Arena::View rows = arena.read();
  check_slots(slots, rows.size(), "slots");
  std::vector<float> result(slots.size);
  for (std::size_t i = 0; i < slots.size; ++i) {
    float dot = 0.0f;
    active().dot_rows(padded[0], rows.row(static_cast<std::size_t>(slots[i])), arena.padded_dim(),
                      1, arena.padded_dim(), &dot);
    result[i] = clamped(dot);
  }
  return result;
}

}  // namespace ebb
