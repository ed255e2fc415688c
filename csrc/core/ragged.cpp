#include "core/ragged.h"

#include "core/errors.h"

namespace ebb {

void check_ends(Span<const std::int64_t> ends, std::size_t limit, const std::string& argument) {
  const auto highest = static_cast<std::int64_t>(limit);
  std::int64_t previous = 0;
  for (std::size_t i = 0; i < ends.size; ++i) {
    if (ends[i] < previous || ends[i] > highest) {
      throw ValueError(argument + "[" + std::to_string(i) + "]",
                       "an end from " + std::to_string(previous) + " to " + std::to_string(limit),
                       std::to_string(ends[i]));
    }
    previous = ends[i];
  }
}

void check_partition(Span<const std::int64_t> ends, std::size_t size,
                     const std::string& argument) {
  check_ends(ends, size, argument);
  const std::size_t last = ends.empty() ? 0 : static_cast<std::size_t>(ends[ends.size - 1]);
  if (last != size) {
    throw ValueError(argument, "a last end of " + std::to_string(size), std::to_string(last));
  }
}

}  // namespace ebb
