#include "core/reinforcement.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <unordered_map>

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

// What a success leaves of a memory.
Kept success(const Trace& before, std::int64_t now, double gain) {
  const double strength =
      before.strength + gain * (1.0 - before.retrievability) * (1.0 - before.strength);
  const bool countable = before.accesses < std::numeric_limits<std::int64_t>::max();
  return {before.row, strength, 0.5 + 0.5 * strength, std::max(before.accessed, now),
          before.accesses + (countable ? 1 : 0)};
}

void keep(const StrengthColumns& columns, std::size_t slot, const Kept& after) {
  columns.strength[slot] = after.strength;
  columns.anchor[slot] = after.anchor;
  columns.accessed[slot] = after.accessed;
  columns.accesses[slot] = after.accesses;
}

// Writes 8 bytes, the lowest first; returns where the next go.
template <typename Number>
char* put(Number number, char* out) {
  std::uint64_t bits = 0;
  static_assert(sizeof(number) == sizeof(bits));
  std::memcpy(&bits, &number, sizeof(bits));
  for (int byte = 0; byte < 8; ++byte) *out++ = static_cast<char>(bits >> 8 * byte);
  return out;
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
    if (counts) keep(columns, slot, success(before[i], now, rule.gain));
  }
}

std::vector<Kept> kept(Span<const Retold> recalls) {
  std::unordered_map<std::int64_t, Kept> newest;
  for (const Retold& recall : recalls) {
    for (const Trace& trace : recall.traces) {
      if (trace.succeeded != 0) {
        newest.insert_or_assign(trace.row, success(trace, recall.now, recall.gain));
      }
    }
  }
  std::vector<Kept> all;
  all.reserve(newest.size());
  for (const auto& [row, after] : newest) all.push_back(after);
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.row < b.row; });
  return all;
}

void past(Span<const Trace> traces, char* out) {
  for (const Trace& trace : traces) {
    out = put(trace.row, out);
    out = put(trace.strength, out);
    out = put(trace.retrievability, out);
  }
}

}  // namespace ebb
