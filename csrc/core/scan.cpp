#include "core/scan.h"

#include <algorithm>
#include <utility>

#include "core/clamped.h"
#include "core/dispatch.h"
#include "core/finite.h"
#include "core/one_stage.h"
#include "core/padded_queries.h"
#include "core/parallel.h"
#include "core/scan_rows.h"
#include "core/scores.h"
#include "core/selection_checks.h"
#include "core/topk.h"
#include "core/two_stage.h"

namespace ebb {

namespace {

// Fewer codes than these are read in one stage: the second costs more than it saves.
constexpr std::size_t kLeastCodes = std::size_t{1} << 15;

// A list of candidates much shorter than the rows is what makes a second stage cheap.
constexpr std::size_t kRowsPerCandidate = 16;

template <typename Score>
bool two_stages(const ScanRows<Score>& rows, Stages stages) {
  if (rows.code_dim == 0 || stages == Stages::kOne) return false;
  if (stages == Stages::kTwo) return true;
  return rows.view.size() * rows.code_dim >= kLeastCodes &&
         rows.view.live() / kRowsPerCandidate >= rows.k;
}

Ranked listed(std::vector<TopK> best_of_queries) {
  Ranked ranked;
  for (TopK& best : best_of_queries) {
    for (const Scored& row : std::move(best).take()) {
      ranked.slots.push_back(row.slot);
      ranked.scores.push_back(row.score);
      ranked.dots.push_back(row.dot);
    }
    ranked.ends.push_back(static_cast<std::int64_t>(ranked.slots.size()));
  }
  return ranked;
}

template <typename Score>
std::vector<TopK> best_of(const ScanRows<Score>& rows, const QueryBatch& queries, Stages stages) {
  const PaddedQueries padded(queries, rows.padded_dim);
  if (two_stages(rows, stages)) {
    TwoStage<Score> ranking(rows, padded);
    rows.read_into(ranking);
    return std::move(ranking).take();
  }
  OneStage<Score> ranking(rows, padded);
  rows.read_into(ranking);
  return std::move(ranking).take();
}

template <typename Score>
Ranked rank(const ScanRows<Score>& rows, const QueryBatch& queries, const Selection& selection) {
  std::vector<TopK> best(queries.count, TopK(rows.k));
  for_parts(queries.count, selection.crew, [&](Part part) {
    const QueryBatch own{queries.data + part.begin * queries.dim, part.end - part.begin,
                         queries.dim};
    std::vector<TopK> found = best_of(rows, own, selection.stages);
    std::move(found.begin(), found.end(), best.begin() + static_cast<std::ptrdiff_t>(part.begin));
  });
  return listed(std::move(best));
}

}  // namespace

Ranked top_affine(const Arena& arena, QueryBatch queries, Column mul, Column add,
                  const Selection& selection) {
  check_queries(arena, queries);
  const Arena::View rows = arena.read();
  check_selection(selection, rows.size());
  const AffineScore score{checked_column(mul, rows.size(), "mul"),
                          checked_column(add, rows.size(), "add")};
  return rank(ScanRows<AffineScore>(arena, rows, score, selection), queries, selection);
}

Ranked top_product(const Arena& arena, QueryBatch queries, Span<const double> log_weight,
                   const Selection& selection) {
  check_queries(arena, queries);
  const Arena::View rows = arena.read();
  check_selection(selection, rows.size());
  check_length(log_weight.size, rows.size(), "log_weight");
  check_log_weights(log_weight, "log_weight");
  const ProductScore score{log_weight.data};
  return rank(ScanRows<ProductScore>(arena, rows, score, selection), queries, selection);
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
