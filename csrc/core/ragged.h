// Ragged arrays: many runs back to back, with the place where each one ends.
#pragma once

#include <cstdint>
#include <string>

#include "core/span.h"

namespace ebb {

// Accept `ends` only if it starts at 0 or above, never falls and stays within `limit`.
// Throws ValueError, which names the argument and the first position that is wrong.
void check_ends(Span<const std::int64_t> ends, std::size_t limit, const std::string& argument);

// The same, and the last end must be `size`: the runs cover all of it (none at all covers 0).
void check_partition(Span<const std::int64_t> ends, std::size_t size, const std::string& argument);

}  // namespace ebb
