// The word-hash vectors that score best, exactly, through their postings.
//
// What `scan.h` is to the arena: the same scores of a cosine and a row's columns, the same masks
// and ties, and the same result as reading every row. Per block of rows the dots come from the
// postings of the query's buckets as small integers; rows and blocks whose bound is below the
// worst of the k best are left out.
#pragma once

#include <cstdint>
#include <vector>

#include "core/fading.h"
#include "core/scan.h"
#include "core/span.h"
#include "core/word_vectors.h"

namespace ebb {

// Best first; fewer than k when fewer rows are allowed.
struct RankedWords {
  std::vector<std::int64_t> slots;
  std::vector<double> scores;
  std::vector<double> cosines;
};

// The query is one text, counted as the vectors are. All of these throw ShapeError for a column of
// another length than there are slots, and ValueError for a query that `append` would refuse and
// for columns of NaN or infinity.

// score = mul * cosine + add. Absent: mul 1, add 0.
RankedWords top_affine(const WordVectors& vectors, const WordCounts& query, Column mul, Column add,
                       const Selection& selection);

// score = log_weight + ln((1 + cosine) / 2); minus infinity is allowed.
RankedWords top_product(const WordVectors& vectors, const WordCounts& query,
                        Span<const double> log_weight, const Selection& selection);

// The same with the log weights that `fading`, which has the same slots, gives at the moment.
RankedWords top_faded(const WordVectors& vectors, const WordCounts& query, const Fading& fading,
                      const Moment& moment, const Selection& selection);

// The cosines with some rows; a dead one gives 0. Throws ValueError for a slot that was never
// handed out.
std::vector<double> cosines(const WordVectors& vectors, const WordCounts& query,
                            Span<const std::int64_t> slots);

}  // namespace ebb
