#include "core/product_ranking.h"

#include <utility>

namespace ebb {

ProductRanking top_products(const WordVectors& vectors, const WordCounts& query,
                            const Fading& fading, const Moment& moment, const Selection& selection,
                            const ProductColumns& columns) {
  RankedWords best = top_faded(vectors, query, fading, moment, selection);
  const std::size_t count = best.slots.size();
  ProductRanking ranking{std::move(best.slots),      std::move(best.cosines),
                         std::vector<double>(count), std::vector<double>(count),
                         std::vector<double>(count), std::vector<double>(count)};
  product_scores({{ranking.slots.data(), count}, {ranking.cosines.data(), count}}, columns,
                 moment.rate,
                 {ranking.nearness.data(), ranking.importance.data(), ranking.retained.data(),
                  ranking.scores.data()});
  return ranking;
}

}  // namespace ebb
