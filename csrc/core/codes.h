// A row as codes of 8 bits, and a proved bound on what the codes say about a dot product.
//
// A row x is kept as integers c in [-127, 127] and a scale s; so is a query q, as q8 and t. With
// I = c . q8, which is exact, the dot product of real numbers obeys
//
//   |x.q - s t I| = |(x - s c).q + (s c).(q - t q8)| <= |x - s c| |q| + |s c| |q - t q8|.
//
// What ranks is not x.q but the kernel's float32 sum f (dot_rows): 16 lanes, each the sequential
// sum of m = D/16 products (D padded to lanes), then 4 folds. With u = 2^-24:
//
// * Without fused multiply-add, a product is rounded once by its multiplication, at most m - 1
//   times by the additions of its lane (adding the first to zero is exact) and 4 times by the
//   folds: m + 4 roundings.
// * With it, each of a lane's m steps rounds once, and then the folds: again m + 4.
//
// So |f - x.q| <= g sum |x_i q_i| <= g |x| |q| with g = (m + 4) u / (1 - (m + 4) u), which is at
// most 2 (m + 4) u while (m + 4) u <= 1/2; plus at most 2^-149 for each product that underflows,
// of which there are at most 2^16: kUnderflow covers them. Magnitudes of at most kLargest keep
// every partial sum finite.
//
// Stored beside the codes: `error` >= |x - s c| and `norm` >= both |x| and |s c|, rounded up. They
// come from the same kind of float32 sum, so they are enlarged by the same g:
// * |x|^2 <= (sum + underflow) (1 + 2g);
// * the kernel computes r_i = x_i - s c_i with two roundings, |r_i - (x_i - s c_i)| <=
//   u |s c_i| + u |r_i|, hence |x - s c| <= |r| (1 + 4u) + 2u |x|.
// A row beyond kLargest, or not finite, gets zeros for codes and an infinite error: it is never
// ruled out. One below kSmallest, whose squares would underflow, gets zeros and its own norm for
// an error.
//
// A query's `error` and `norm` are made alike, and its error is then enlarged by
// (2 (m + 4) u + 32 u) norm: the first part is f's own, the second covers every way in which the
// bound itself is computed in float32 or double, each with fewer than 10 roundings of terms of at
// most row.norm * query.norm.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/buffer.h"
#include "core/span.h"

namespace ebb {

// Longer rows have no codes: their dots would overflow 32 bits.
constexpr std::size_t kMaxCodedDim = std::size_t{1} << 16;

constexpr int kMaxLevels = 127;

// Codes per row of `dim` values, padding included; 0 when such rows have none.
std::size_t code_dim_of(std::size_t dim);

// scale * codes is within `error` of the row; it and the row are within `norm` of 0.
struct CodeBound {
  float scale = 0.0f;
  float error = 0.0f;
  float norm = 0.0f;
};

// Codes of at most `levels` (1 to kMaxLevels) in magnitude. `row` has padded_dim floats; padding is
// 0. A row of small multiples of one number, such as counts of words, is kept exactly.
CodeBound encode(const float* row, std::size_t padded_dim, int levels, std::int8_t* codes);

// The clamped float32 dot lies between these.
struct DotRange {
  double lower;
  double upper;
};

// A query to compare with coded rows.
class CodedQuery {
 public:
  // `query` as `encode` takes a row; of code_dim codes those beyond padded_dim are 0. Without
  // codes (code_dim 0) nothing can be ruled out.
  CodedQuery(const float* query, std::size_t padded_dim, std::size_t code_dim,
             int levels = kMaxLevels);

  const std::int8_t* codes() const { return codes_.data(); }
  std::size_t code_dim() const { return codes_.size(); }
  int levels() const { return levels_; }

  // scale and norm as of a row; the error has the slack of the float32 dot in it.
  const CodeBound& bound() const { return bound_; }

  // False when nothing can be ruled out.
  bool bounded() const;

  // What `dot`, the integer dot with a row's codes, says.
  DotRange range(std::int32_t dot, const CodeBound& row) const {
    const double middle = static_cast<double>(row.scale) * bound_.scale * dot;
    const double radius = static_cast<double>(row.error) * bound_.norm +
                          static_cast<double>(row.norm) * bound_.error + kUnderflow;
    return {clamp_down(middle - radius), clamp_up(middle + radius)};
  }

 private:
  static constexpr double kUnderflow = 0x1p-100;

  // NaN, from a row without a bound, goes to the end that rules nothing out.
  static double clamp_down(double x) { return x > 1.0 ? 1.0 : x >= -1.0 ? x : -1.0; }
  static double clamp_up(double x) { return x < -1.0 ? -1.0 : x <= 1.0 ? x : 1.0; }

  Buffer<std::int8_t> codes_;
  CodeBound bound_;
  int levels_;
};

}  // namespace ebb
