// What the codes of an arena's rows say about their dots with a query.
#pragma once

#include <cstdint>

#include "core/arena.h"
#include "core/codes.h"
#include "core/span.h"

namespace ebb {

// out[i] is the range of the clamped float32 dot of the query with row slots[i], as `dots` of
// core/scan.h gives it. The slots may lie anywhere, and are the caller's to check; the query has
// the arena's code_dim. Rows without codes have the range of every dot.
void dot_ranges(const Arena::View& rows, const CodedQuery& query, Span<const std::int32_t> slots,
                DotRange* out);

}  // namespace ebb
