#include "core/faded_scan.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/buffer.h"
#include "core/codes.h"
#include "core/dispatch.h"
#include "core/dot_ranges.h"
#include "core/elementary.h"
#include "core/errors.h"
#include "core/finite.h"
#include "core/topk.h"

namespace ebb {

namespace {

// Rows whose codes are compared at once. The first few tell what the others must reach.
constexpr std::size_t kFirstBatch = 16;
constexpr std::size_t kBatch = 128;

// The share of the rows above which reading them as they lie is faster than visiting them, and how
// many are visited before that is asked (each time twice as many).
constexpr double kDenseShare = 0.3;
constexpr std::size_t kVisitedFirst = 2048;

float clamped(float dot) { return dot > 1.0f ? 1.0f : dot >= -1.0f ? dot : -1.0f; }

// Not less than the score of a row of this weight whose dot is at most `upper`: the logarithm is
// within 1 ulp, the factor wider than that.
double score_ceiling(double log_weight, double upper) {
  return log_weight + log((1.0 + upper) / 2.0) * (1.0 - 1e-12);
}

// No row of at most this weight reaches `score` with a lower dot. A sum that is rounded reaches it
// from a little below, which matters where both are large; the factor is wider than the rounding
// of the other steps.
double least_dot(double log_weight, double score) {
  const double below = (std::fabs(score) + std::fabs(log_weight)) * 0x1p-50;
  return 2.0 * exp(score - log_weight - below) * (1.0 - 1e-12) - 1.0 - 1e-12;
}

// Slots whose codes are to be compared, and a bound of their weights.
struct Batch {
  std::int32_t slots[kBatch];
  std::size_t count = 0;
  double highest = -std::numeric_limits<double>::infinity();
};

struct Candidate {
  std::int32_t slot;
  double log_weight;
  double ceiling;  // of its score
};

// The search of one query.
class FadedSearch {
 public:
  FadedSearch(const Arena& arena, const Arena::View& rows, const Fading::View& fading,
              const Moment& moment, const Selection& selection, const float* query, FadedWork& work)
      : rows_(rows),
        fading_(fading),
        lines_(fading.lines()),
        moment_(moment),
        at_(fading.at(moment)),
        newness_(selection.newness ? selection.newness->data : nullptr),
        mask_(selection.mask ? selection.mask->data : nullptr),
        padded_dim_(arena.padded_dim()),
        row_(query),
        query_(query, padded_dim_, arena.code_dim()),
        k_(selection.k),
        best_(selection.k),
        work_(work) {}

  std::vector<Scored> run() && {
    if (fading_.order().empty() || !visit_in_order()) read_as_they_lie();
    return std::move(best_).take();
  }

 private:
  // False when it was given up, because too many rows are left.
  bool visit_in_order() {
    FadingOrder::Walk walk(fading_.order(), at_);
    const auto many = static_cast<std::size_t>(kDenseShare * static_cast<double>(rows_.size()));
    std::size_t next_look = std::max(kVisitedFirst, rows_.size() / 64);
    std::size_t visited = 0;
    while (!walk.done() && !(walk.bound() < floor())) {
      const FadingOrder::Block& block = walk.next();
      const double bound = at_.weight(block.bound);
      if (bound < floor()) continue;
      visit(block, bound);
      visited += block.slots.size();
      if (visited < next_look) continue;
      compare();
      if (walk.slots_left(floor()) > many) return false;
      next_look = 2 * visited;
    }
    compare();
    return true;
  }

  // The newest of a block stand last, mostly.
  void visit(const FadingOrder::Block& block, double bound) {
    const bool all = !(at_.weight(block.floor) < floor());
    work_.weighed += all ? 0 : block.slots.size();
    for (std::size_t i = block.slots.size(); i > 0; --i) {
      const std::int32_t slot = block.slots[i - 1];
      const auto index = static_cast<std::size_t>(slot);
      if (mask_ != nullptr && !mask_[index]) continue;
      const double log_weight = all ? bound : at_.weight(lines_, index);
      if (log_weight < floor()) continue;
      batch_.slots[batch_.count++] = slot;
      batch_.highest = std::max(batch_.highest, log_weight);
      if (batch_.count >= batch_size_) {
        compare();
        batch_size_ = kBatch;
      }
    }
  }

  // Rows range by range, in the order of their memory.
  void read_as_they_lie() {
    // No row can be found twice, so what was found is forgotten, and only its score kept.
    floor_ = floor();
    best_ = TopK(k_);
    for (std::size_t first = 0; first < rows_.size(); first += Fading::kRangeSlots) {
      const std::size_t count = std::min(Fading::kRangeSlots, rows_.size() - first);
      const double bound = fading_.bound(first, count, moment_);
      if (bound < floor()) continue;
      for (std::size_t slot = first; slot < first + count; ++slot) {
        if (mask_ != nullptr && !mask_[slot]) continue;
        batch_.slots[batch_.count++] = static_cast<std::int32_t>(slot);
        batch_.highest = std::max(batch_.highest, bound);
        if (batch_.count == kBatch) compare();
      }
    }
    compare();
  }

  // Compare the codes of a batch with the query, and the floats of the rows that may still win.
  void compare() {
    DotRange ranges[kBatch];
    dot_ranges(rows_, query_, {batch_.slots, batch_.count}, ranges);
    work_.coded += batch_.count;
    const double least = least_dot(batch_.highest, floor());
    for (std::size_t i = 0; i < batch_.count; ++i) {
      if (!(ranges[i].upper < least)) add_candidate(batch_.slots[i], ranges[i].upper);
    }
    batch_.count = 0;
    batch_.highest = -std::numeric_limits<double>::infinity();
    read_candidates();
  }

  void add_candidate(std::int32_t slot, double upper) {
    const auto index = static_cast<std::size_t>(slot);
    if (!rows_.alive(index) || !fading_.alive(index)) return;
    const double log_weight = at_.weight(lines_, index);
    const double ceiling = score_ceiling(log_weight, upper);
    if (!(ceiling < floor())) candidates_.push_back({slot, log_weight, ceiling});
  }

  // The most promising first, so that the others need not be read.
  void read_candidates() {
    std::sort(candidates_.begin(), candidates_.end(),
              [](const Candidate& a, const Candidate& b) { return a.ceiling > b.ceiling; });
    for (const Candidate& row : candidates_) {
      if (row.ceiling < floor()) break;
      read(row);
    }
    candidates_.clear();
  }

  void read(const Candidate& row) {
    const auto slot = static_cast<std::size_t>(row.slot);
    float dot = 0.0f;
    active().dot_rows(row_, rows_.row(slot), padded_dim_, 1, padded_dim_, &dot);
    ++work_.read;
    dot = clamped(dot);
    const double score = row.log_weight + log((1.0 + dot) / 2.0);
    if (score < floor()) return;
    best_.offer({score, newness_ ? newness_[slot] : row.slot, row.slot, dot});
  }

  // What scores less is not among the best.
  double floor() const { return std::max(floor_, best_.entry_score()); }

  const Arena::View& rows_;
  const Fading::View& fading_;
  const FadingLines& lines_;
  const Moment moment_;
  const FadingMoment at_;
  const std::int64_t* const newness_;
  const bool* const mask_;
  const std::size_t padded_dim_;
  const float* const row_;
  const CodedQuery query_;
  const std::size_t k_;
  TopK best_;
  double floor_ = -std::numeric_limits<double>::infinity();
  std::vector<Candidate> candidates_;
  Batch batch_;
  std::size_t batch_size_ = kFirstBatch;
  FadedWork& work_;
};

void check_length(std::size_t length, std::size_t rows, const char* argument) {
  if (length == rows) return;
  throw ShapeError(argument, std::to_string(rows) + " values, one per slot",
                   std::to_string(length));
}

void check_arguments(const Arena& arena, const QueryBatch& queries, const Moment& moment) {
  if (queries.dim != arena.dim()) {
    throw ShapeError("query", std::to_string(arena.dim()) + " values", std::to_string(queries.dim));
  }
  check_finite(Span<const float>{queries.data, queries.count * queries.dim}, "query");
  check_moment(moment);
}

}  // namespace

Ranked top_faded(const Arena& arena, const Fading& fading, QueryBatch queries, const Moment& moment,
                 const Selection& selection, FadedWork* work) {
  check_arguments(arena, queries, moment);
  const Arena::View rows = arena.read();
  const Fading::View lines = fading.read();
  if (lines.size() != rows.size()) {
    throw ShapeError("fading", std::to_string(rows.size()) + " slots, as the arena has",
                     std::to_string(lines.size()));
  }
  if (selection.newness) check_length(selection.newness->size, rows.size(), "newness");
  if (selection.mask) check_length(selection.mask->size, rows.size(), "mask");
  Ranked ranked;
  FadedWork done;
  Buffer<float> query(arena.padded_dim());
  for (std::size_t q = 0; q < queries.count; ++q) {
    std::copy_n(queries.data + q * queries.dim, queries.dim, query.data());
    FadedSearch search(arena, rows, lines, moment, selection, query.data(), done);
    for (const Scored& row : std::move(search).run()) {
      ranked.slots.push_back(row.slot);
      ranked.scores.push_back(row.score);
      ranked.dots.push_back(row.dot);
    }
    ranked.ends.push_back(static_cast<std::int64_t>(ranked.slots.size()));
  }
  if (work != nullptr) *work = done;
  return ranked;
}

}  // namespace ebb
