// What a product ranking found, as Python holds it until somebody asks.
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

#include "core/product_ranking.h"

namespace ebb::bindings {

class FoundProducts {
 public:
  explicit FoundProducts(ProductRanking ranking) : ranking_(std::move(ranking)) {}

  const ProductRanking& ranking() const { return ranking_; }
  std::size_t size() const { return ranking_.slots.size(); }

 private:
  ProductRanking ranking_;
};

}  // namespace ebb::bindings
