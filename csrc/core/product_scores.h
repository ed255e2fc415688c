// The scores of a product ranking as users see them, from what the ranking found.
//
//   score = nearness * importance * retained
//   nearness = (cosine + 1) / 2, retained = e^(-rate * elapsed)
//
// in double, every step rounded once, with the core's own exponential: the same bits on every
// machine. It underflows where the ranking's logarithm does not, so nothing is ranked by it.
#pragma once

#include <cstdint>

#include "core/decay.h"
#include "core/span.h"

namespace ebb {

// What was ranked: slots, and the cosine of each with the query.
struct RankedCosines {
  Span<const std::int64_t> slots;
  Span<const double> cosines;
};

// Columns by slot, of one length.
struct ProductColumns {
  Span<const double> importance;
  Elapsed age;
};

// A value for each ranked slot; room for as many.
struct ProductTerms {
  double* nearness;
  double* importance;
  double* retained;
  double* score;
};

// Throws ValueError for a slot that is not there, and unless the rate is finite and at least 0;
// what was written until then means nothing.
void product_scores(const RankedCosines& ranked, const ProductColumns& columns, double rate,
                    const ProductTerms& terms);

}  // namespace ebb
