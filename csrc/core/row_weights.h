// What turns a cosine into a score, for each row: by columns, or by lines that fade.
//
// Each says the highest score any cosine gives a row (`bound`), the score (`of`), and a score that
// no cosine within kCosineError of a given one exceeds (`ceiling`); `bound` is handed back to the
// last two, so that it is worked out once. Of some rows together (`Range`) it says the highest
// bound, and the least cosine with which one of them can reach a score.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/elementary.h"
#include "core/fading.h"
#include "core/word_query.h"

namespace ebb {

constexpr double kLeastScore = -std::numeric_limits<double>::infinity();

// mul * cosine + add; an absent column stands for 1 and 0.
class AffineWeights {
 public:
  struct Range {
    double bound = kLeastScore;
    double most_mul = 0.0;
    double most_add = kLeastScore;
    double most_size = 0.0;  // of mul and add together
    bool negative = false;   // some mul is
  };

  AffineWeights(const double* mul, const double* add) : mul_(mul), add_(add) {}

  double bound(std::size_t slot) const { return std::fabs(mul(slot)) + add(slot); }

  template <typename Admits>
  Range range(std::size_t first, std::size_t count, const Admits& admits) const {
    if (mul_ == nullptr && add_ == nullptr) return {1.0, 1.0, 0.0, 1.0, false};
    Range range;
    for (std::size_t slot = first; slot < first + count; ++slot) {
      if (!admits(slot)) continue;
      range.bound = std::max(range.bound, bound(slot));
      range.most_mul = std::max(range.most_mul, std::fabs(mul(slot)));
      range.most_add = std::max(range.most_add, add(slot));
      range.most_size = std::max(range.most_size, std::fabs(mul(slot)) + std::fabs(add(slot)));
      range.negative |= mul(slot) < 0.0;
    }
    return range;
  }

  double least_cosine(const Range& range, double score) const {
    const double rounding = (std::fabs(score) + range.most_size) * 1e-15;
    const double missing = score - range.most_add - rounding;
    if (range.negative || !(missing > 0.0) || range.most_mul == 0.0) return -1.0;
    return missing / range.most_mul * (1.0 - 1e-12);
  }

  double ceiling(std::size_t slot, double, double cosine) const {
    const double size = std::fabs(mul(slot));
    const double slack = size * WordQuery::kCosineError + (size + std::fabs(add(slot))) * 1e-15;
    return of(slot, 0.0, cosine) + slack;
  }

  double of(std::size_t slot, double, double cosine) const {
    return (mul_ ? mul_[slot] * cosine : cosine) + add(slot);
  }

 private:
  double mul(std::size_t slot) const { return mul_ ? mul_[slot] : 1.0; }
  double add(std::size_t slot) const { return add_ ? add_[slot] : 0.0; }

  const double* mul_;
  const double* add_;
};

// log weight + ln((1 + cosine) / 2).
struct LogProduct {
  // 1 + cosine >= 2 e^(score - bound), with slack for what rounding does to either side.
  static double least_cosine(double bound, double score) {
    if (!(bound >= score)) return 1.0;
    if (!(score > kLeastScore)) return -1.0;
    const double rounding = (std::fabs(score) + std::fabs(bound)) * 1e-15;
    return 2.0 * exp(score - bound - rounding) * (1.0 - 1e-9) - 1.0;
  }

  // ln y <= y - 1 spares most rows the logarithm. The slack is wider than the rounding of both.
  static double ceiling(double log_weight, double cosine) {
    const double highest = std::min(cosine + WordQuery::kCosineError, 1.0);
    return log_weight + ((1.0 + highest) / 2.0 - 1.0) * (1.0 - 1e-12);
  }

  static double of(double log_weight, double cosine) {
    return log_weight + log((1.0 + cosine) / 2.0);
  }
};

class ProductWeights {
 public:
  struct Range {
    double bound;
  };

  explicit ProductWeights(const double* log_weight) : log_weight_(log_weight) {}

  double bound(std::size_t slot) const { return log_weight_[slot]; }

  template <typename Admits>
  Range range(std::size_t first, std::size_t count, const Admits& admits) const {
    double bound = kLeastScore;
    for (std::size_t slot = first; slot < first + count; ++slot) {
      if (admits(slot)) bound = std::max(bound, log_weight_[slot]);
    }
    return {bound};
  }

  double least_cosine(const Range& range, double score) const {
    return LogProduct::least_cosine(range.bound, score);
  }

  double ceiling(std::size_t, double bound, double cosine) const {
    return LogProduct::ceiling(bound, cosine);
  }

  double of(std::size_t, double bound, double cosine) const {
    return LogProduct::of(bound, cosine);
  }

 private:
  const double* log_weight_;
};

class FadedWeights {
 public:
  using Range = ProductWeights::Range;

  FadedWeights(const Fading::View& lines, const Moment& moment) : lines_(lines), moment_(moment) {}

  double bound(std::size_t slot) const { return lines_.log_weight(slot, moment_); }

  template <typename Admits>
  Range range(std::size_t first, std::size_t count, const Admits&) const {
    return {lines_.bound(first, count, moment_)};
  }

  double least_cosine(const Range& range, double score) const {
    return LogProduct::least_cosine(range.bound, score);
  }

  double ceiling(std::size_t, double bound, double cosine) const {
    return LogProduct::ceiling(bound, cosine);
  }

  double of(std::size_t, double bound, double cosine) const {
    return LogProduct::of(bound, cosine);
  }

 private:
  const Fading::View& lines_;
  const Moment moment_;
};

}  // namespace ebb
