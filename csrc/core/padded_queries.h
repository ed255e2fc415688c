// Queries copied to rows of whole lanes.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/buffer.h"
#include "core/scan.h"

namespace ebb {

class PaddedQueries {
 public:
  PaddedQueries(const QueryBatch& queries, std::size_t padded_dim)
      : count_(queries.count), padded_dim_(padded_dim), rows_(queries.count * padded_dim) {
    for (std::size_t q = 0; q < queries.count; ++q) {
      std::copy_n(queries.data + q * queries.dim, queries.dim, rows_.data() + q * padded_dim);
    }
  }

  std::size_t count() const { return count_; }
  const float* operator[](std::size_t q) const { return rows_.data() + q * padded_dim_; }

 private:
  std::size_t count_;
  std::size_t padded_dim_;
  Buffer<float> rows_;
};

}  // namespace ebb
