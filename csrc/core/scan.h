// The rows of an arena that score best, exactly.
//
// The scan knows no law of forgetting: whoever knows one turns strengths and times into a number
// or two per row (a column), and the scan combines them with the dot product of query and row.
// The dot is the kernel's float32 one, clamped to [-1, 1] (sums of rounded products overshoot; one
// that overflowed to NaN counts as -1). So a row's columns alone bound its score: blocks of rows
// are opened in descending bound until none can change the result.
//
// Within a block there are two ways. One stage reads the float32 rows. Two stages read their codes
// of 8 bits, a quarter of the bytes, which bound the dots (core/codes.h), and then the float32 rows
// of the few that can still be among the k best. The result is the same, bit for bit, and so is
// that of a batch and of its queries one by one.
//
// Dead rows and rows the mask forbids are left out before the k best are chosen. Ties: higher
// score, then newer, then lower slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/arena.h"
#include "core/span.h"
#include "core/workers.h"

namespace ebb {

// `count` queries of `dim` floats, back to back.
struct QueryBatch {
  const float* data = nullptr;
  std::size_t count = 0;
  std::size_t dim = 0;
};

// One double per slot; an absent column stands for the value its user names.
using Column = std::optional<Span<const double>>;

// Fitting: what is likely to be faster.
enum class Stages { kFitting, kOne, kTwo };

struct Selection {
  std::optional<Span<const std::int64_t>> newness;  // one per slot; absent: the slot number
  std::optional<Span<const Truth>> mask;            // one per slot; absent: every row
  std::size_t k = 1;
  Stages stages = Stages::kFitting;  // rows without codes are always read in one
  Crew crew;                         // that a batch of queries may be split over
};

// Result of query i: the rows from ends[i - 1] (0 for the first) to ends[i], best first; fewer
// than k when fewer rows are allowed.
struct Ranked {
  std::vector<std::int64_t> slots;
  std::vector<double> scores;
  std::vector<float> dots;
  std::vector<std::int64_t> ends;
};

// All of these throw ShapeError for a query of another dimension than the arena's or a column of
// another length than the arena's size, and ValueError for NaN or infinity.

// score = mul * dot + add, in double. Absent: mul 1, add 0.
Ranked top_affine(const Arena& arena, QueryBatch queries, Column mul, Column add,
                  const Selection& selection);

// score = log_weight + ln((1 + dot) / 2), in double: the order of weight * (1 + dot) / 2, without
// underflow. A log_weight of minus infinity is allowed, and so is a dot of -1: such rows rank last
// with minus infinity.
Ranked top_product(const Arena& arena, QueryBatch queries, Span<const double> log_weight,
                   const Selection& selection);

// The clamped dots of one query with some rows; a dead row, which reads as zeros, gives 0. Throws
// ValueError for a slot that was never handed out.
std::vector<float> dots(const Arena& arena, QueryBatch query, Span<const std::int64_t> slots);

}  // namespace ebb
