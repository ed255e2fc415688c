// The rows of an arena that score best by how strongly they are remembered, exactly.
#pragma once

#include <cstddef>

#include "core/arena.h"
#include "core/fading.h"
#include "core/scan.h"

namespace ebb {

// What `top_product` of core/scan.h returns for the column of the log weights of `fading` at a
// moment, bit for bit, where the same slots are dead in both; one that is dead in either is left
// out here. score = log weight + ln((1 + dot) / 2). No such column is made: slots are
// visited in the order of their weights, until no weight left can reach the k-th best score. Where
// too many are left for that to pay, rows are read as they lie.
//
// The slots of `fading` are those of the arena; both are read as they are at one moment each, and
// the arena is locked first. Throws ShapeError when their sizes differ or for what `top_product`
// refuses, and ValueError for a moment that `check_moment` refuses.
Ranked top_faded(const Arena& arena, const Fading& fading, QueryBatch queries, const Moment& moment,
                 const Selection& selection);

// How much of the work of such a search could not be avoided: rows whose weight was computed to
// choose them, rows whose codes were compared with a query, and rows whose floats were.
struct FadedWork {
  std::size_t weighed = 0;
  std::size_t compared = 0;
  std::size_t read = 0;
};

FadedWork faded_work(const Arena& arena, const Fading& fading, QueryBatch queries,
                     const Moment& moment, const Selection& selection);

}  // namespace ebb
