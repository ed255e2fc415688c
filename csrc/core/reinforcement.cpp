#include "core/reinforcement.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/decay.h"
#include "core/elementary.h"
#include "core/errors.h"
#include "core/finite.h"

namespace ebb {

namespace {

void check_slots(Span<const std::int64_t> slots, std::size_t size) {
  for (const std::int64_t slot : slots) {
    if (slot >= 0 && static_cast<std::size_t>(slot) < size) continue;
    throw ValueError("slots", "slots below " + std::to_string(size), std::to_string(slot));
  }
}

void check_rule(const SuccessRule& rule) {
  if (!(rule.rate >= 0.0 && is_finite(rule.rate))) {
    throw ValueError("rate", "a finite number of at least 0", std::to_string(rule.rate));
  }
  if (!(rule.unit > 0.0 && is_finite(rule.unit))) {
    throw ValueError("unit", "a finite number above 0", std::to_string(rule.unit));
  }
  if (!(rule.gain >= 0.0 && rule.gain <= 1.0)) {
    throw ValueError("gain", "a number from 0 to 1", std::to_string(rule.gain));
  }
}

double retrievability(const StrengthColumns& columns, std::size_t slot, std::int64_t now,
                      const SuccessRule& rule) {
  const double slowed = (1.0 - kStrengthProtection * columns.strength[slot]) *
                        (1.0 - kEmotionProtection * columns.intensity[slot]);
  const std::int64_t since = std::min(columns.accessed[slot], now);
  // Without a sign: the difference of two moments may need all 64 bits.
  const auto ticks = static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(since);
  const double idle = static_cast<double>(ticks) / rule.unit;
  return columns.anchor[slot] * exp(-(rule.rate * slowed) * idle);
}

}  // namespace

std::vector<Trace> succeed(const StrengthColumns& columns, Span<const std::int64_t> slots,
                           RowMask counted, std::int64_t now, const SuccessRule& rule) {
  check_slots(slots, columns.strength.size);
  check_rule(rule);
  std::vector<Trace> before;
  before.reserve(slots.size);
  for (std::size_t i = 0; i < slots.size; ++i) {
    const auto slot = static_cast<std::size_t>(slots[i]);
    const double r = retrievability(columns, slot, now, rule);
    before.push_back({columns.row[slot], columns.strength[slot], columns.anchor[slot],
                      columns.intensity[slot], columns.accessed[slot], columns.accesses[slot], r});
    if (!counted.allows(i)) continue;
    double& strength = columns.strength[slot];
    strength += rule.gain * (1.0 - r) * (1.0 - strength);
    columns.anchor[slot] = 0.5 + 0.5 * strength;
    columns.accessed[slot] = std::max(columns.accessed[slot], now);
    std::int64_t& accesses = columns.accesses[slot];
    accesses += accesses < std::numeric_limits<std::int64_t>::max() ? 1 : 0;
  }
  return before;
}

}  // namespace ebb
