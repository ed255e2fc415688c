// One text that word-hash vectors are compared with.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/sparse_block.h"
#include "core/word_vectors.h"

namespace ebb {

class WordQuery {
 public:
  // A bucket of the query within one block.
  struct Held {
    std::int32_t count;  // in the query
    KeyRows rows;
  };

  // Throws ShapeError or ValueError as `checked_squares`, and unless it is one text.
  WordQuery(const WordCounts& text, std::size_t dim);

  // The buckets that some row of the block has, too.
  void find_in(const SparseBlock& block, std::vector<Held>& held) const;

  // The canonical cosine with a vector of this dot and this squared norm.
  double cosine(std::int64_t dot, std::uint64_t squares) const {
    if (dot == 0) return 0.0;
    const double product = static_cast<double>(squares) * squares_;
    const double quotient = static_cast<double>(dot) / std::sqrt(product);
    return quotient > 1.0 ? 1.0 : quotient >= -1.0 ? quotient : -1.0;
  }

  // The same to within kCosineError, at a third of the time.
  static constexpr double kCosineError = 1e-14;
  double near_cosine(std::int64_t dot, std::uint64_t squares) const {
    const double inverse =
        squares < kRoots ? inverse_roots_[squares] : 1.0 / std::sqrt(static_cast<double>(squares));
    return static_cast<double>(dot) * inverse * inverse_norm_;
  }

  // The square of a dot, for each 1 of the vector's squared norm, that the cosine (above 0) takes.
  double least_square(double cosine) const { return cosine * cosine * squares_; }

  // No vector of at least so many squares reaches the cosine (above 0) with a dot below this.
  double least_dot(double cosine, std::uint64_t squares) const {
    return cosine * std::sqrt(static_cast<double>(squares) * squares_) * (1.0 - 1e-9);
  }

 private:
  static constexpr std::size_t kRoots = 1024;
  static const std::array<double, kRoots>& inverse_roots();

  std::vector<std::uint32_t> buckets_;
  std::vector<std::int32_t> counts_;
  double squares_ = 0.0;
  double inverse_norm_ = 0.0;
  const std::array<double, kRoots>& inverse_roots_ = inverse_roots();
};

}  // namespace ebb
