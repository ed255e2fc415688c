// Recall as a write: what a success leaves of the strengths of some memories, in their columns.
//
// R is retrievability at `now`: anchor * e^(-rate * (1 - 0.75 S) * (1 - 0.8 intensity) * elapsed),
// elapsed since the last access and at least 0. A success does, in this order,
//   S += gain * (1 - R) * (1 - S);  anchor = 0.5 + 0.5 S
// and moves the last access to `now` (never back) and counts it.
#pragma once

#include <cstdint>
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

struct SuccessRule {
  double rate;  // per unit of time, finite and at least 0
  double unit;  // of time, in the unit of moments; finite and above 0
  double gain;  // from 0 to 1
};

// What a memory was like when it was recalled: nothing but numbers of 64 bits, without gaps.
struct Trace {
  std::int64_t row;
  double strength;
  double anchor;
  double intensity;
  std::int64_t accessed;
  std::int64_t accesses;
  double retrievability;
};
static_assert(sizeof(Trace) == 7 * sizeof(double));

// Returns what each slot was like before; then lets each succeed whose `counted` is true. A slot
// that comes twice succeeds twice, one after the other. Accesses are counted up to the largest
// number there is. Throws ValueError for a slot that is not there, and a rule out of range; then
// nothing was changed.
std::vector<Trace> succeed(const StrengthColumns& columns, Span<const std::int64_t> slots,
                           RowMask counted, std::int64_t now, const SuccessRule& rule);

}  // namespace ebb
