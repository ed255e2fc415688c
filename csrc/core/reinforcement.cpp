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

// At least 0. Without a sign: the difference of two moments may need all 64 bits.
std::uint64_t idle(std::int64_t accessed, std::int64_t now) {
  return static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(std::min(accessed, now));
}

double retrievability(const StrengthColumns& columns, std::size_t slot, std::int64_t now,
                      const SuccessRule& rule) {
  const double slowed = (1.0 - kStrengthProtection * columns.strength[slot]) *
                        (1.0 - kEmotionProtection * columns.intensity[slot]);
  const double elapsed = static_cast<double>(idle(columns.accessed[slot], now)) / rule.unit;
  return columns.anchor[slot] * exp(-(rule.rate * slowed) * elapsed);
}

bool lets(const SuccessGuard& guard, std::int64_t accessed, std::int64_t now, double similarity) {
  if (guard.refractory > 0) {
    if (idle(accessed, now) < static_cast<std::uint64_t>(guard.refractory)) return false;
  }
  return similarity >= guard.evidence;
}

void reinforce(const StrengthColumns& columns, std::size_t slot, std::int64_t now, double r,
               double gain) {
  double& strength = columns.strength[slot];
  strength += gain * (1.0 - r) * (1.0 - strength);
  columns.anchor[slot] = 0.5 + 0.5 * strength;
  columns.accessed[slot] = std::max(columns.accessed[slot], now);
  std::int64_t& accesses = columns.accesses[slot];
  accesses += accesses < std::numeric_limits<std::int64_t>::max() ? 1 : 0;
}

}  // namespace

void succeed(const StrengthColumns& columns, const Recalled& recalled, std::int64_t now,
             const SuccessRule& rule, Trace* before) {
  check_slots(recalled.slots, columns.strength.size);
  check_rule(rule);
  for (std::size_t i = 0; i < recalled.slots.size; ++i) {
    const auto slot = static_cast<std::size_t>(recalled.slots[i]);
    const double r = retrievability(columns, slot, now, rule);
    const double similarity = recalled.similarity[i];
    const bool counts =
        i < recalled.hits &&
        (!recalled.guard || lets(*recalled.guard, columns.accessed[slot], now, similarity));
    before[i] = {columns.row[slot],
                 columns.strength[slot],
                 columns.anchor[slot],
                 columns.intensity[slot],
                 columns.accessed[slot],
                 columns.accesses[slot],
                 r,
                 similarity,
                 counts ? 1 : 0};
    if (counts) reinforce(columns, slot, now, r, rule.gain);
  }
}

}  // namespace ebb
