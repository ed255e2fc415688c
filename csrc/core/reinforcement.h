// Recall as a write: what a success leaves of the strengths of some memories, in their columns.
//
// R is retrievability at `now`: anchor * e^(-rate * (1 - 0.75 S) * (1 - 0.8 intensity) * elapsed),
// elapsed since the last access and at least 0. A success does, in this order,
//   S += gain * (1 - R) * (1 - S);  anchor = 0.5 + 0.5 S
// and moves the last access to `now` (never back) and counts it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/span.h"

namespace ebb {

// Columns by slot, all of one length.
struct StrengthColumns {
  Span<const std::int64_t> row;  // what names a memory
  Span<double> strength;         // S
  Span<double> anchor;           // R at the last access
  Span<const double> intensity;
  Span<std::int64_t> accessed;
  Span<std::int64_t> accesses;
};

// How R falls, and what a success gains.
struct SuccessRule {
  double rate;  // per unit of time, finite and at least 0
  double unit;  // of time, in the unit of moments; finite and above 0
  double gain;  // from 0 to 1
};

// Keeps from success what too little speaks for, and what was accessed just now.
struct SuccessGuard {
  double evidence;          // the least similarity
  std::int64_t refractory;  // the least time since the last access
};

// Slots, and what a recall found of each. The first `hits` of them succeed, as far as the guard,
// if there is one, lets them.
struct Recalled {
  Span<const std::int64_t> slots;
  Span<const double> similarity;
  std::size_t hits;
  std::optional<SuccessGuard> guard;
};

// What a memory was like when it was recalled, and whether it succeeded (1, else 0): nothing but
// numbers of 64 bits, without gaps.
struct Trace {
  std::int64_t row;
  double strength;
  double anchor;
  double intensity;
  std::int64_t accessed;
  std::int64_t accesses;
  double retrievability;
  double similarity;
  std::int64_t succeeded;
};
static_assert(sizeof(Trace) == 9 * sizeof(double));

// Writes what each slot was like before, and lets succeed what is to; there is room for a trace of
// each. A slot that comes twice succeeds twice, one after the other. Accesses are counted up to the
// largest number there is. Throws ValueError for a slot that is not there, and a rule out of range;
// then nothing was changed.
void succeed(const StrengthColumns& columns, const Recalled& recalled, std::int64_t now,
             const SuccessRule& rule, Trace* before);

// One recall by its traces, and how its successes were made.
struct Retold {
  Span<const Trace> traces;
  std::int64_t now;
  double gain;
};

// What the history keeps of a memory that was recalled: its row, S and R, 8 bytes each.
constexpr std::size_t kPastBytes = 24;

// What a memory is like after its last success.
struct Kept {
  std::int64_t row;
  double strength;
  double anchor;
  std::int64_t accessed;
  std::int64_t accesses;
};

// Each memory that succeeded in some recalls, given in their order, once: as `succeed` left it in
// the last of them, by row ascending.
std::vector<Kept> kept(Span<const Retold> recalls);

// Writes a past per trace, little-endian on every machine: records keep it. There is room for all.
void past(Span<const Trace> traces, char* out);

}  // namespace ebb
