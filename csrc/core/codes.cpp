#include "core/codes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/dispatch.h"
#include "core/kernel_table.h"

namespace ebb {

namespace {

constexpr double kUnit = 0x1p-24;
constexpr double kSquareUnderflow = 0x1p-149;
constexpr double kLargest = 0x1p60;
constexpr float kSmallest = 0x1p-40f;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr CodeBound kUnbounded = {0.0f, kInfinity, kInfinity};

// The least float that is not below x.
float above(double x) {
  const auto nearest = static_cast<float>(x);
  return static_cast<double>(nearest) < x ? std::nextafter(nearest, kInfinity) : nearest;
}

// 2g of the contract: how far a float32 sum over padded_dim products may be off, relatively.
double sum_slack(std::size_t padded_dim) {
  return 2.0 * (static_cast<double>(padded_dim / kLanes) + 4.0) * kUnit;
}

// At least the root of what was summed.
double norm_above(float squares, std::size_t padded_dim) {
  const double underflow = static_cast<double>(padded_dim) * kSquareUnderflow;
  return std::sqrt((squares + underflow) * (1.0 + sum_slack(padded_dim))) * (1.0 + kUnit);
}

struct Attempt {
  float inverse;
  float scale;
};

// The row's codes at a scale, and an upper bound of their error.
double quantise(const float* row, std::size_t padded_dim, const Attempt& attempt, double norm,
                std::int8_t* codes) {
  const float squares =
      active().quantise_row(row, padded_dim, attempt.inverse, attempt.scale, codes);
  return norm_above(squares, padded_dim) * (1.0 + 4.0 * kUnit) + 2.0 * kUnit * norm;
}

}  // namespace

std::size_t code_dim_of(std::size_t dim) {
  return dim > kMaxCodedDim ? 0 : (dim + kCodeLanes - 1) / kCodeLanes * kCodeLanes;
}

CodeBound encode(const float* row, std::size_t padded_dim, int levels, std::int8_t* codes) {
  const RowExtent extent = active().row_extent(row, padded_dim);
  const double norm = norm_above(extent.squares, padded_dim);
  if (!(norm <= kLargest)) {
    std::fill_n(codes, padded_dim, std::int8_t{0});
    return kUnbounded;
  }
  if (extent.largest < kSmallest) {
    std::fill_n(codes, padded_dim, std::int8_t{0});
    const double root = std::sqrt(static_cast<double>(padded_dim));
    const float size = above(extent.largest * root * (1.0 + kUnit));
    return {0.0f, size, size};
  }
  const auto most = static_cast<float>(levels);
  const Attempt spread = {most / extent.largest, extent.largest / most};
  const Attempt counted = {1.0f / extent.smallest, extent.smallest};
  Attempt chosen = spread;
  double error = quantise(row, padded_dim, spread, norm, codes);
  if (extent.largest <= extent.smallest * (most + 0.25f)) {
    const double exact = quantise(row, padded_dim, counted, norm, codes);
    if (exact < error) {
      chosen = counted;
      error = exact;
    } else {
      quantise(row, padded_dim, spread, norm, codes);
    }
  }
  return {chosen.scale, above(error), above(norm + error)};
}

CodedQuery::CodedQuery(const float* query, std::size_t padded_dim, std::size_t code_dim, int levels)
    : codes_(code_dim), bound_(kUnbounded), levels_(levels) {
  if (code_dim == 0) return;
  bound_ = encode(query, padded_dim, levels, codes_.data());
  const double slack = sum_slack(padded_dim) + 32.0 * kUnit;
  bound_.error = above(bound_.error + slack * bound_.norm);
}

bool CodedQuery::bounded() const { return bound_.norm <= kLargest; }

}  // namespace ebb
