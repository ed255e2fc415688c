#include "core/word_scan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/block_sums.h"
#include "core/finite.h"
#include "core/row_weights.h"
#include "core/selection_checks.h"
#include "core/topk.h"
#include "core/word_query.h"

namespace ebb {

namespace {

constexpr std::size_t kRangeRows = Fading::kRangeSlots;

// The dots of one query with the rows of a block: in 16 bits where they fit, which is nearly
// always.
class BlockDots {
 public:
  explicit BlockDots(const WordQuery& query) : query_(query) {}

  void find_in(const SparseBlock& block) {
    query_.find_in(block, held_);
    double most = 0.0;
    for (const WordQuery::Held& bucket : held_) {
      most += std::fabs(bucket.count) * static_cast<double>(block.largest_count());
    }
    narrow_ = most <= BlockSums::kMost;
  }

  bool narrow() const { return narrow_; }

  void add_up(const SparseBlock& block) {
    if (!narrow_) return add_up_wide(block);
    sums_.clear(block.rows());
    for (const WordQuery::Held& bucket : held_) {
      sums_.add(bucket.rows, [&](std::int32_t count) {
        return static_cast<std::int16_t>(bucket.count * count);
      });
    }
  }

  std::int64_t operator[](std::size_t row) const { return narrow_ ? sums_[row] : wide_[row]; }

  BlockSums& sums() { return sums_; }

 private:
  void add_up_wide(const SparseBlock& block) {
    wide_.assign(block.rows(), 0);
    for (const WordQuery::Held& bucket : held_) {
      bucket.rows.each([&](std::size_t row, std::int32_t count) {
        wide_[row] += std::int64_t{bucket.count} * count;
      });
    }
  }

  const WordQuery& query_;
  std::vector<WordQuery::Held> held_;
  BlockSums sums_;
  std::vector<std::int64_t> wide_;
  bool narrow_ = true;
};

template <typename Weights>
class WordScan {
 public:
  WordScan(const SparseRows& rows, const WordQuery& query, const Weights& weights,
           const Selection& selection)
      : rows_(rows),
        query_(query),
        weights_(weights),
        newness_(selection.newness ? selection.newness->data : nullptr),
        mask_(selection.mask ? selection.mask->data : nullptr),
        dots_(query),
        best_(selection.k) {}

  // The blocks in descending bound, the newest first where bounds are equal: of equal scores the
  // newer win.
  RankedWords run() && {
    std::vector<Waiting> waiting = bounded_blocks();
    std::stable_sort(waiting.begin(), waiting.end(),
                     [](const Waiting& a, const Waiting& b) { return a.bound > b.bound; });
    for (const Waiting& next : waiting) {
      if (next.bound < best_.entry_score()) break;
      open(*next.block, next.first_range);
    }
    return collect();
  }

 private:
  using Range = typename Weights::Range;

  struct Waiting {
    double bound;
    const SparseBlock* block;
    std::size_t first_range;
  };

  bool admits(std::size_t slot) const {
    return rows_.is_live(slot) && (mask_ == nullptr || mask_[slot]);
  }

  std::vector<Waiting> bounded_blocks() {
    std::vector<Waiting> waiting;
    const auto let_in = [this](std::size_t slot) { return admits(slot); };
    for (auto block = rows_.blocks().rbegin(); block != rows_.blocks().rend(); ++block) {
      Waiting next{kLeastScore, &*block, ranges_.size()};
      for (std::size_t row = 0; row < block->rows(); row += kRangeRows) {
        const std::size_t count = std::min(kRangeRows, block->rows() - row);
        ranges_.push_back(weights_.range(block->first() + row, count, let_in));
        next.bound = std::max(next.bound, ranges_.back().bound);
      }
      waiting.push_back(next);
    }
    return waiting;
  }

  void open(const SparseBlock& block, std::size_t first_range) {
    dots_.find_in(block);
    dots_.add_up(block);
    const std::size_t ranges = (block.rows() + kRangeRows - 1) / kRangeRows;
    for (std::size_t r = ranges; r-- > 0;) {
      const Range& range = ranges_[first_range + r];
      const double entry = best_.entry_score();
      if (range.bound < entry) continue;
      const std::size_t begin = r * kRangeRows;
      const std::size_t end = std::min(begin + kRangeRows, block.rows());
      const double least_cosine = best_.full() ? weights_.least_cosine(range, entry) : -1.0;
      if (least_cosine > 0.0 && dots_.narrow()) {
        offer_reaching(block, begin, end, least_cosine);
      } else {
        offer_all(block, begin, end);
      }
    }
  }

  // Rows of a cosine of at least that, which is above 0: integers tell which.
  void offer_reaching(const SparseBlock& block, std::size_t begin, std::size_t end, double cosine) {
    const double least = query_.least_dot(cosine, block.smallest_value());
    if (least > BlockSums::kMost) return;
    const auto whole = static_cast<std::int16_t>(std::max(least, 1.0));
    const double square = query_.least_square(cosine);
    for (const std::size_t row : dots_.sums().reaching(block, begin, end, whole, square)) {
      offer(block, begin + row, weights_.bound(block.first() + begin + row));
    }
  }

  // The newest first: where things fade they weigh most, and the others then stay below them.
  void offer_all(const SparseBlock& block, std::size_t begin, std::size_t end) {
    for (std::size_t row = end; row-- > begin;) {
      const double bound = weights_.bound(block.first() + row);
      if (!(bound < best_.entry_score())) offer(block, row, bound);
    }
  }

  void offer(const SparseBlock& block, std::size_t row, double bound) {
    const std::size_t slot = block.first() + row;
    if (!admits(slot)) return;
    const double entry = best_.entry_score();
    const std::int64_t dot = dots_[row];
    const std::uint64_t squares = block.value(row);
    if (weights_.ceiling(slot, bound, query_.near_cosine(dot, squares)) < entry) return;
    const double cosine = query_.cosine(dot, squares);
    const double score = weights_.of(slot, bound, cosine);
    if (score < entry) return;
    const auto number = static_cast<std::int64_t>(slot);
    best_.offer({score, newness_ ? newness_[slot] : number, number, cosine});
  }

  RankedWords collect() {
    RankedWords ranked;
    const std::vector<Scored> best = std::move(best_).take();
    ranked.slots.reserve(best.size());
    ranked.scores.reserve(best.size());
    ranked.cosines.reserve(best.size());
    for (const Scored& row : best) {
      ranked.slots.push_back(row.slot);
      ranked.scores.push_back(row.score);
      ranked.cosines.push_back(row.dot);
    }
    return ranked;
  }

  const SparseRows& rows_;
  const WordQuery& query_;
  const Weights& weights_;
  const std::int64_t* const newness_;
  const Truth* const mask_;
  BlockDots dots_;
  std::vector<Range> ranges_;
  TopK best_;
};

}  // namespace

RankedWords top_affine(const WordVectors& vectors, const WordCounts& query, Column mul, Column add,
                       const Selection& selection) {
  const WordQuery asked(query, vectors.dim());
  const WordVectors::View view = vectors.read();
  const SparseRows& rows = view.rows();
  check_selection(selection, rows.size());
  const AffineWeights weights(checked_column(mul, rows.size(), "mul"),
                              checked_column(add, rows.size(), "add"));
  return WordScan<AffineWeights>(rows, asked, weights, selection).run();
}

RankedWords top_product(const WordVectors& vectors, const WordCounts& query,
                        Span<const double> log_weight, const Selection& selection) {
  const WordQuery asked(query, vectors.dim());
  const WordVectors::View view = vectors.read();
  const SparseRows& rows = view.rows();
  check_selection(selection, rows.size());
  check_length(log_weight.size, rows.size(), "log_weight");
  check_log_weights(log_weight, "log_weight");
  const ProductWeights weights(log_weight.data);
  return WordScan<ProductWeights>(rows, asked, weights, selection).run();
}

RankedWords top_faded(const WordVectors& vectors, const WordCounts& query, const Fading& fading,
                      const Moment& moment, const Selection& selection) {
  const WordQuery asked(query, vectors.dim());
  check_moment(moment);
  const WordVectors::View view = vectors.read();
  const SparseRows& rows = view.rows();
  check_selection(selection, rows.size());
  const Fading::View lines = fading.read();
  check_length(lines.size(), rows.size(), "fading");
  const FadedWeights weights(lines, moment);
  return WordScan<FadedWeights>(rows, asked, weights, selection).run();
}

std::vector<double> cosines(const WordVectors& vectors, const WordCounts& query,
                            Span<const std::int64_t> slots) {
  const WordQuery asked(query, vectors.dim());
  const WordVectors::View view = vectors.read();
  const SparseRows& rows = view.rows();
  check_slots(slots, rows.size(), "slots");
  std::vector<double> found;
  found.reserve(slots.size);
  const SparseBlock* block = nullptr;
  std::vector<WordQuery::Held> held;
  for (const std::int64_t number : slots) {
    const auto slot = static_cast<std::size_t>(number);
    if (block == nullptr || slot < block->first() || slot >= block->first() + block->rows()) {
      block = &rows.blocks()[rows.block_of(slot)];
      asked.find_in(*block, held);
    }
    const std::size_t row = slot - block->first();
    std::int64_t dot = 0;
    for (const WordQuery::Held& bucket : held) {
      dot += std::int64_t{bucket.count} * bucket.rows.count_of(row);
    }
    found.push_back(rows.is_live(slot) ? asked.cosine(dot, block->value(row)) : 0.0);
  }
  return found;
}

}  // namespace ebb
