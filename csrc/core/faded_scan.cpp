#include "core/faded_scan.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/buffer.h"
#include "core/clamped.h"
#include "core/codes.h"
#include "core/dispatch.h"
#include "core/dot_ranges.h"
#include "core/elementary.h"
#include "core/errors.h"
#include "core/parallel.h"
#include "core/selection_checks.h"
#include "core/topk.h"

namespace ebb {

namespace {

// Rows whose codes are compared at once. The first few tell what the others must reach.
constexpr std::size_t kFirstBatch = 16;
constexpr std::size_t kBatch = 128;

// The share of the rows above which reading them as they lie is faster than visiting them, and how
// many are visited before that is asked (each time twice as many).
constexpr double kDenseShare = 0.25;
constexpr std::size_t kVisitedFirst = 2048;

// Rows that lie back to back are read on unless at most one of so many is allowed.
constexpr std::size_t kReadOnShare = 8;

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

// What one moment's searches look at.
struct Searched {
  const Arena& arena;
  const Arena::View& rows;
  const Fading::View& fading;
  const Moment& moment;
  const Selection& selection;
};

// The search of one query.
class FadedSearch {
 public:
  FadedSearch(const Searched& searched, const float* query, FadedWork& work)
      : rows_(searched.rows),
        fading_(searched.fading),
        lines_(searched.fading.lines()),
        moment_(searched.moment),
        at_(searched.fading.at(searched.moment)),
        newness_(searched.selection.newness ? searched.selection.newness->data : nullptr),
        mask_(searched.selection.mask ? searched.selection.mask->data : nullptr),
        k_(searched.selection.k),
        padded_dim_(searched.arena.padded_dim()),
        stretch_(std::min(Fading::kRangeSlots, searched.arena.rows_per_chunk())),
        row_(query),
        query_(query, padded_dim_, searched.arena.code_dim()),
        best_(k_),
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
      if (!(log_weight < floor())) take(slot, log_weight);
    }
  }

  // Put a row of at most this weight into the batch.
  void take(std::int32_t slot, double log_weight) {
    batch_.slots[batch_.count++] = slot;
    batch_.highest = std::max(batch_.highest, log_weight);
    if (batch_.count < batch_size_) return;
    compare();
    batch_size_ = kBatch;
  }

  // Rows range by range, in the order of their memory.
  void read_as_they_lie() {
    // No row can be found twice, so what was found is forgotten, and only its score kept.
    floor_ = floor();
    best_ = TopK(k_);
    for (std::size_t first = 0; first < rows_.size(); first += stretch_) {
      const std::size_t count = std::min(stretch_, rows_.size() - first);
      const double bound = fading_.bound(first, count, moment_);
      if (bound < floor()) continue;
      const std::size_t allowed = allowed_rows(first, count);
      if (kReadOnShare * allowed < count) {
        pick(first, count, bound);
      } else {
        read_on(first, count, bound);
      }
    }
    compare();
  }

  std::size_t allowed_rows(std::size_t first, std::size_t count) const {
    if (mask_ == nullptr) return count;
    return static_cast<std::size_t>(std::count(mask_ + first, mask_ + first + count, true));
  }

  void pick(std::size_t first, std::size_t count, double bound) {
    for (std::size_t slot = first; slot < first + count; ++slot) {
      if (mask_[slot]) take(static_cast<std::int32_t>(slot), bound);
    }
  }

  // Rows that lie back to back, the few that must not be found along with the others.
  void read_on(std::size_t first, std::size_t count, double bound) {
    float uppers[Fading::kRangeSlots];
    std::fill_n(uppers, count, 1.0f);
    if (query_.code_dim() > 0) bound_dots(first, count, uppers);
    work_.compared += count;
    const double least = least_dot(bound, floor());
    for (std::size_t i = 0; i < count; ++i) {
      // Dots are clamped before they count: rows that are longer than 1 go below -1. NaN: 1.
      const float upper = uppers[i] <= 1.0f ? std::max(uppers[i], -1.0f) : 1.0f;
      if (upper < least || (mask_ != nullptr && !mask_[first + i])) continue;
      add_candidate(static_cast<std::int32_t>(first + i), upper);
    }
    read_candidates();
  }

  // What CodedQuery::range says, in float32: the slack in the query's error covers that too.
  void bound_dots(std::size_t first, std::size_t count, float* uppers) const {
    std::int32_t dots[Fading::kRangeSlots];
    const std::size_t codes = query_.code_dim();
    active().dot_codes(query_.codes(), rows_.codes(first), codes, count, codes, dots);
    const RowChunks::Bounds rows = rows_.bounds(first);
    const CodeBound& query = query_.bound();
    for (std::size_t i = 0; i < count; ++i) {
      const float middle = static_cast<float>(dots[i]) * (rows.scale[i] * query.scale);
      uppers[i] = middle + (rows.error[i] * query.norm + rows.norm[i] * query.error);
    }
  }

  // Compare the codes of a batch with the query, and the floats of the rows that may still win.
  void compare() {
    DotRange ranges[kBatch];
    dot_ranges(rows_, query_, {batch_.slots, batch_.count}, ranges);
    work_.compared += batch_.count;
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
  const Truth* const mask_;
  const std::size_t k_;
  const std::size_t padded_dim_;
  const std::size_t stretch_;  // rows that lie back to back
  const float* const row_;
  const CodedQuery query_;
  TopK best_;
  double floor_ = -std::numeric_limits<double>::infinity();
  std::vector<Candidate> candidates_;
  Batch batch_;
  std::size_t batch_size_ = kFirstBatch;
  FadedWork& work_;
};

void check_sizes(const Searched& searched) {
  const std::size_t rows = searched.rows.size();
  if (searched.fading.size() != rows) {
    throw ShapeError("fading", std::to_string(rows) + " slots, as the arena has",
                     std::to_string(searched.fading.size()));
  }
  check_selection(searched.selection, rows);
}

Ranked search(const Searched& searched, const QueryBatch& queries, FadedWork& work) {
  check_sizes(searched);
  std::vector<std::vector<Scored>> best(queries.count);
  std::vector<FadedWork> done(queries.count);
  for_parts(queries.count, searched.selection.crew, [&](Part part) {
    Buffer<float> query(searched.arena.padded_dim());
    for (std::size_t q = part.begin; q < part.end; ++q) {
      std::copy_n(queries.data + q * queries.dim, queries.dim, query.data());
      best[q] = FadedSearch(searched, query.data(), done[q]).run();
    }
  });
  Ranked ranked;
  for (std::size_t q = 0; q < queries.count; ++q) {
    work.weighed += done[q].weighed;
    work.compared += done[q].compared;
    work.read += done[q].read;
    for (const Scored& row : best[q]) {
      ranked.slots.push_back(row.slot);
      ranked.scores.push_back(row.score);
      ranked.dots.push_back(row.dot);
    }
    ranked.ends.push_back(static_cast<std::int64_t>(ranked.slots.size()));
  }
  return ranked;
}

}  // namespace

Ranked top_faded(const Arena& arena, const Fading& fading, QueryBatch queries, const Moment& moment,
                 const Selection& selection) {
  check_queries(arena, queries);
  check_moment(moment);
  const Arena::View rows = arena.read();
  const Fading::View lines = fading.read();
  FadedWork work;
  return search({arena, rows, lines, moment, selection}, queries, work);
}

FadedWork faded_work(const Arena& arena, const Fading& fading, QueryBatch queries,
                     const Moment& moment, const Selection& selection) {
  check_queries(arena, queries);
  check_moment(moment);
  const Arena::View rows = arena.read();
  const Fading::View lines = fading.read();
  FadedWork work;
  search({arena, rows, lines, moment, selection}, queries, work);
  return work;
}

}  // namespace ebb
