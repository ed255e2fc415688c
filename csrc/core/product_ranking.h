// The best of a product ranking over word-hash vectors, with all that a user is told of them: what
// word_scan.h finds and product_scores.h makes of it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/product_scores.h"
#include "core/word_scan.h"

namespace ebb {

// A value per slot, best first.
struct ProductRanking {
  std::vector<std::int64_t> slots;
  std::vector<double> cosines;
  std::vector<double> nearness;
  std::vector<double> importance;
  std::vector<double> retained;
  std::vector<double> scores;
};

// Ranked at `moment` by `fading`, scored by the columns' importance and age. Throws as top_faded
// and product_scores do.
ProductRanking top_products(const WordVectors& vectors, const WordCounts& query,
                            const Fading& fading, const Moment& moment, const Selection& selection,
                            const ProductColumns& columns);

}  // namespace ebb
