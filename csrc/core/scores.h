// The two ways a scan turns a dot product and a row's columns into a score.
//
// Each says what its score is (`of`), a bound that no dot in [-1, 1] exceeds (`bound`; exact, since
// rounding is monotone), whether the bound is the same for all rows (`flat`), and, cheaply, that a
// row cannot reach a score (`hopeless`; false when it is not sure). Where only a range of the dot
// is known: how high and how low the score may be (`highest`, `lowest`), and a line that no score
// is above by more than its rounding (`lines`).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/codes.h"
#include "core/elementary.h"

namespace ebb {

// mul * dot + add.
struct Line {
  double mul;
  double add;
};

struct AffineScore {
  const double* mul;
  const double* add;

  bool flat() const { return mul == nullptr && add == nullptr; }

  double bound(std::size_t slot) const {
    return (mul ? std::fabs(mul[slot]) : 1.0) + (add ? add[slot] : 0.0);
  }

  bool hopeless(std::size_t, double, double) const { return false; }

  double of(std::size_t slot, double dot) const {
    return (mul ? mul[slot] * dot : dot) + (add ? add[slot] : 0.0);
  }

  // Exact, for each rounding is monotone.
  double highest(std::size_t slot, const DotRange& dot) const {
    return of(slot, mul && mul[slot] < 0.0 ? dot.lower : dot.upper);
  }
  double lowest(std::size_t slot, const DotRange& dot) const {
    return of(slot, mul && mul[slot] < 0.0 ? dot.upper : dot.lower);
  }

  // Line of a slot. The score is one, wherever it is best to be tight.
  auto lines(double) const {
    return [this](std::size_t slot) { return Line{mul ? mul[slot] : 1.0, add ? add[slot] : 0.0}; };
  }
};

struct ProductScore {
  const double* log_weight;

  bool flat() const { return false; }

  double bound(std::size_t slot) const { return log_weight[slot]; }

  // ln y <= y - 1 spares most rows the logarithm. The factor is wider than the rounding of both.
  bool hopeless(std::size_t slot, double dot, double entry) const {
    const double ceiling = ((1.0 + dot) / 2.0 - 1.0) * (1.0 - 1e-12);
    return log_weight[slot] + ceiling < entry;
  }

  double of(std::size_t slot, double dot) const {
    return log_weight[slot] + log((1.0 + dot) / 2.0);
  }

  // Wider than the rounding of the logarithm, which need not be monotone.
  double highest(std::size_t slot, const DotRange& dot) const {
    return log_weight[slot] + log((1.0 + dot.upper) / 2.0) * (1.0 - 1e-15);
  }
  double lowest(std::size_t slot, const DotRange& dot) const {
    return log_weight[slot] + log((1.0 + dot.lower) / 2.0) * (1.0 + 1e-15);
  }

  // The logarithm lies below its tangents: ln y <= ln y0 - 1 + y / y0. The one chosen touches it
  // at `depth`, where rows of weight 1 begin to reach what is asked for.
  auto lines(double depth) const {
    const double touch = std::min(std::max(depth, -7.0), 0.0);
    const double mul = 0.5 / exp(touch);
    const double add = touch - 1.0 + mul;
    return [this, mul, add](std::size_t slot) { return Line{mul, log_weight[slot] + add}; };
  }
};

}  // namespace ebb
