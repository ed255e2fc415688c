#include "core/bm25.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "core/block_sums.h"
#include "core/elementary.h"
#include "core/errors.h"
#include "core/topk.h"

namespace ebb {

namespace {

struct CueTerm {
  std::uint32_t number;
  double idf;
};

// The terms of the cue that some live text holds, once each, in order of first occurrence.
std::vector<CueTerm> cue_terms(const InvertedIndex& index, Span<const std::uint64_t> cue) {
  std::vector<CueTerm> terms;
  IndexMap seen;
  for (const std::uint64_t id : cue) {
    const std::size_t distinct = seen.size();
    if (seen.insert(id) != distinct) continue;
    const std::uint32_t number = index.find(id);
    if (number == IndexMap::kAbsent || index.live_texts(number) == 0) continue;
    terms.push_back({number, bm25_idf(index.live(), index.live_texts(number))});
  }
  return terms;
}

// k1 * (1 - b + b * length / mean); short lengths are worked out once per call.
class LengthNorm {
 public:
  LengthNorm(const Bm25& rule, double mean) : rule_(rule), mean_(mean) {}

  double operator()(std::uint64_t length) {
    if (length >= known_.size()) return compute(length);
    double& norm = known_[length];
    if (norm == 0.0) norm = compute(length);
    return norm;
  }

 private:
  double compute(std::uint64_t length) const {
    return rule_.k1 * (1.0 - rule_.b + rule_.b * static_cast<double>(length) / mean_);
  }

  Bm25 rule_;
  double mean_;
  std::array<double, 256> known_{};
};

double contribution(double idf, std::int32_t count, double norm) {
  const auto tf = static_cast<double>(count);
  return idf * tf / (tf + norm);
}

// The terms of a cue within one block, in the cue's order; those it does not hold are left out.
struct HeldTerm {
  double idf;
  KeyRows rows;
};

std::vector<HeldTerm> held_terms(const SparseBlock& block, const std::vector<CueTerm>& terms) {
  std::vector<HeldTerm> held;
  for (const CueTerm& term : terms) {
    const KeyRows rows = block.find(term.number);
    if (!rows.empty()) held.push_back({term.idf, rows});
  }
  return held;
}

double score_row(const std::vector<HeldTerm>& held, std::size_t row, double norm) {
  double score = 0.0;
  for (const HeldTerm& term : held) {
    const std::int32_t count = term.rows.count_of(row);
    if (count != 0) score += contribution(term.idf, count, norm);
  }
  return score;
}

// Integer sums that bound scores. With n = k1 * (1 - b + b * length / mean), a term adds
//   idf * tf / (tf + n)  =  idf * f(n) / (1 + n)  where  f(n) = tf * (1 + n) / (tf + n)
// and f grows with n. So, with N the n of the block's longest text, a text of score s has a sum
// of idf * f(N) over its terms of at least s * (1 + n): the sum needs no look at lengths. It is
// rounded up, to fill 16 bits.
class Bounds {
 public:
  Bounds(const SparseBlock& block, const std::vector<HeldTerm>& held, LengthNorm& norm)
      : least_norm_(norm(block.smallest_value())),
        most_norm_(norm(block.largest_value())),
        most_often_(static_cast<std::int32_t>(block.largest_count())) {
    double total = 0.0;
    for (const HeldTerm& term : held) total += term.idf * factor(most_often_);
    scale_ = (static_cast<double>(BlockSums::kMost) - static_cast<double>(held.size())) / total;
  }

  // False when rounding up would blur everything, or infinity came in.
  bool usable(std::size_t terms) const { return terms <= 1024 && scale_ >= 1e-3 && scale_ <= 1e9; }

  // Texts hold no term less than once, though a posting can say so.
  std::int16_t amount(double idf, std::int32_t count) const {
    if (count <= 0) return 0;
    return static_cast<std::int16_t>(static_cast<std::int32_t>(scale_ * idf * factor(count)) + 1);
  }

  // No text gets more from a term.
  std::int32_t most(double idf) const { return amount(idf, most_often_); }

  // A text of this norm whose sum is below this cannot reach the score.
  double needed(double score, double norm) const {
    return score * scale_ * (1.0 + norm) * (1.0 - 1e-9);
  }

  // The least sum with which any text of the block can reach the score.
  std::int32_t least(double score) const {
    const double sum = needed(score, least_norm_);
    return static_cast<std::int32_t>(std::clamp(sum, 1.0, static_cast<double>(BlockSums::kMost)));
  }

 private:
  double factor(std::int32_t count) const {
    const auto tf = static_cast<double>(count);
    return tf * (1.0 + most_norm_) / (tf + most_norm_);
  }

  double least_norm_;
  double most_norm_;
  std::int32_t most_often_;
  double scale_ = 0.0;
};

// The k best, as far as they are near the best of all.
class Nearest {
 public:
  Nearest(std::size_t k, const Near& near) : near_(near), best_(k) {}

  // Whether a score may be too low to enter.
  bool selective() const { return best_.full() || entry_ > kAnyScore; }

  // A text that scores less than this cannot enter.
  double entry_score() const { return std::max(best_.entry_score(), entry_); }

  void offer(const Scored& text) {
    best_.offer(text);
    if (near_.count == 0) return;
    if (first_.size() < near_.count) {
      first_.push_back(text.score);
      std::push_heap(first_.begin(), first_.end(), std::greater<>());
    } else if (text.score > first_.front()) {
      std::pop_heap(first_.begin(), first_.end(), std::greater<>());
      first_.back() = text.score;
      std::push_heap(first_.begin(), first_.end(), std::greater<>());
    } else {
      return;
    }
    if (first_.size() == near_.count) entry_ = near_.share * first_.front() - near_.spare;
  }

  // Best first.
  std::vector<Scored> take() && {
    std::vector<Scored> texts = std::move(best_).take();
    while (!texts.empty() && texts.back().score < entry_) texts.pop_back();
    return texts;
  }

 private:
  static constexpr double kAnyScore = -std::numeric_limits<double>::infinity();

  Near near_;
  TopK best_;
  std::vector<double> first_;  // the count best scores, the least in front
  double entry_ = kAnyScore;
};

// One ranking: block after block, the newest first, into one heap.
class Ranking {
 public:
  Ranking(const InvertedIndex& index, const Bm25& rule, const Contest& contest)
      : rows_(index.rows()),
        contest_(contest),
        norm_(rule, index.mean_length()),
        exact_(SparseBlock::kMaxRows),
        best_(contest.k, contest.near) {}

  void open(const SparseBlock& block, const std::vector<HeldTerm>& held) {
    if (block.rows() >= kFewRows) {
      const Bounds bounds(block, held, norm_);
      if (bounds.usable(held.size())) return choose(block, held, bounds);
    }
    add_up(block, held);
    for (std::size_t row = 0; row < block.rows(); ++row) offer(block, row, exact_.data()[row]);
  }

  std::vector<Scored> take() && { return std::move(best_).take(); }

 private:
  static constexpr std::size_t kFewRows = 256;

  // The exact scores of every row of a block.
  void add_up(const SparseBlock& block, const std::vector<HeldTerm>& held) {
    double* const sums = exact_.data();
    std::fill_n(sums, block.rows(), 0.0);
    for (const HeldTerm& term : held) {
      term.rows.each([&](std::size_t row, std::int32_t count) {
        sums[row] += contribution(term.idf, count, norm_(block.value(row)));
      });
    }
  }

  void choose(const SparseBlock& block, const std::vector<HeldTerm>& held, const Bounds& bounds) {
    left_out_ = 0;
    const std::int32_t wanted = bounds.least(std::max(best_.entry_score(), 0.0));
    sums_.clear(block.rows());
    for (const HeldTerm& term : held) {
      const std::int32_t most = bounds.most(term.idf);
      if (left_out_ + most <= wanted / kLeftOut) {
        left_out_ += most;
      } else {
        sums_.add(term.rows, [&](std::int32_t count) { return bounds.amount(term.idf, count); });
      }
    }
    added_up_ = false;
    // While any score gets in the highest sums go first.
    std::int32_t upper = BlockSums::kMost + 1;
    while (!best_.selective() && upper > 1) {
      const std::int32_t lower = std::max(upper - upper / 4 - 1, 1);
      offer_sums(block, held, bounds, lower, upper);
      upper = lower;
    }
    const std::int32_t least = bounds.least(std::max(best_.entry_score(), 0.0)) - left_out_;
    if (least < upper) offer_sums(block, held, bounds, least, upper);
  }

  // Offers the rows whose sum is from `lower` to below `upper`.
  void offer_sums(const SparseBlock& block, const std::vector<HeldTerm>& held, const Bounds& bounds,
                  std::int32_t lower, std::int32_t upper) {
    const Span<const std::uint16_t> rows = sums_.at_least(static_cast<std::int16_t>(lower));
    if (!added_up_ && rows.size > block.rows() / kManyRows) {
      add_up(block, held);
      added_up_ = true;
    }
    // The newest first: of those that score the same they alone stay.
    for (std::size_t i = rows.size; i-- > 0;) {
      const std::size_t row = rows[i];
      if (sums_[row] >= upper) continue;
      const double norm = norm_(block.value(row));
      if (sums_[row] + left_out_ < bounds.needed(best_.entry_score(), norm)) continue;
      offer(block, row, added_up_ ? exact_.data()[row] : score_row(held, row, norm));
    }
  }

  void offer(const SparseBlock& block, std::size_t row, double score) {
    const std::size_t slot = block.first() + row;
    if (score <= 0.0 || score < best_.entry_score() || slot >= contest_.limit) return;
    if (!rows_.is_live(slot) || !contest_.mask.allows(slot)) return;
    const auto number = static_cast<std::int64_t>(slot);
    const bool numbered = contest_.newness.data == nullptr;
    best_.offer({score, numbered ? number : contest_.newness[slot], number, 0.0});
  }

  static constexpr std::size_t kManyRows = 16;
  static constexpr std::int32_t kLeftOut = 4;

  const SparseRows& rows_;
  const Contest& contest_;
  LengthNorm norm_;
  BlockSums sums_;
  Buffer<double> exact_;
  bool added_up_ = false;
  std::int32_t left_out_ = 0;
  Nearest best_;
};

}  // namespace

void check_bm25(const Bm25& rule) {
  if (!(rule.k1 >= 0.0 && rule.k1 <= std::numeric_limits<double>::max())) {
    throw ValueError("k1", "a finite number of at least 0", std::to_string(rule.k1));
  }
  if (!(rule.b >= 0.0 && rule.b <= 1.0)) {
    throw ValueError("b", "a number from 0 to 1", std::to_string(rule.b));
  }
}

void check_near(const Near& near) {
  if (!(near.share >= 0.0 && near.share <= 1.0)) {
    throw ValueError("share", "a number from 0 to 1", std::to_string(near.share));
  }
  if (!(near.spare >= 0.0 && near.spare <= std::numeric_limits<double>::max())) {
    throw ValueError("spare", "a finite number of at least 0", std::to_string(near.spare));
  }
}

double bm25_idf(std::size_t texts, std::size_t texts_with_term) {
  const auto all = static_cast<double>(texts);
  const auto with = static_cast<double>(texts_with_term);
  return log(1.0 + (all - with + 0.5) / (with + 0.5));
}

void rank_bm25(const InvertedIndex& index, Span<const std::uint64_t> cue, const Bm25& rule,
               const Contest& contest, RankedTexts& out) {
  const std::vector<CueTerm> terms = cue_terms(index, cue);
  if (terms.empty()) return;
  Ranking ranking(index, rule, contest);
  const std::vector<SparseBlock>& blocks = index.rows().blocks();
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    if (block->first() >= contest.limit) continue;
    const std::vector<HeldTerm> held = held_terms(*block, terms);
    if (!held.empty()) ranking.open(*block, held);
  }
  for (const Scored& text : std::move(ranking).take()) {
    out.slots.push_back(text.slot);
    out.scores.push_back(text.score);
  }
}

std::vector<double> score_bm25(const InvertedIndex& index, Span<const std::uint64_t> cue,
                               const Bm25& rule, Span<const std::int64_t> slots) {
  const std::vector<CueTerm> terms = cue_terms(index, cue);
  const SparseRows& rows = index.rows();
  LengthNorm norm(rule, index.mean_length());
  std::vector<double> scores;
  scores.reserve(slots.size);
  const SparseBlock* block = nullptr;
  std::vector<HeldTerm> held;
  for (const std::int64_t number : slots) {
    const auto slot = static_cast<std::size_t>(number);
    if (block == nullptr || slot < block->first() || slot >= block->first() + block->rows()) {
      block = &rows.blocks()[rows.block_of(slot)];
      held = held_terms(*block, terms);
    }
    const std::size_t row = slot - block->first();
    scores.push_back(rows.is_live(slot) ? score_row(held, row, norm(block->value(row))) : 0.0);
  }
  return scores;
}

}  // namespace ebb
