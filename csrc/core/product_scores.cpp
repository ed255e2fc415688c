#include "core/product_scores.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "core/arena.h"
#include "core/elementary.h"
#include "core/errors.h"

namespace ebb {

void product_scores(const RankedCosines& ranked, const ProductColumns& columns, double rate,
                    const ProductTerms& terms) {
  check_slots(ranked.slots, columns.importance.size, "slots");
  if (!(rate >= 0.0 && rate <= std::numeric_limits<double>::max())) {
    throw ValueError("rate", "a finite number of at least 0", std::to_string(rate));
  }
  const Elapsed& age = columns.age;
  for (std::size_t i = 0; i < ranked.slots.size; ++i) {
    const auto slot = static_cast<std::size_t>(ranked.slots[i]);
    const std::int64_t since = std::min(age.since[slot], age.now);
    // Without a sign: the difference of two moments may need all 64 bits.
    const auto ticks = static_cast<std::uint64_t>(age.now) - static_cast<std::uint64_t>(since);
    const double elapsed = static_cast<double>(ticks) / age.unit;
    terms.nearness[i] = (ranked.cosines[i] + 1.0) / 2.0;
    terms.importance[i] = columns.importance[slot];
    terms.retained[i] = exp(-(rate * elapsed));
    terms.score[i] = terms.nearness[i] * terms.importance[i] * terms.retained[i];
  }
}

}  // namespace ebb
