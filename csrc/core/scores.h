// The two ways a scan turns a dot product and a row's columns into a score.
//
// Each says what its score is (`of`), a bound that no dot in [-1, 1] exceeds (`bound`; exact, since
// rounding is monotone), whether the bound is the same for all rows (`flat`), and, cheaply, that a
// row cannot reach a score (`hopeless`; false when it is not sure).
#pragma once

#include <cmath>
#include <cstddef>

#include "core/elementary.h"

namespace ebb {

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
};

}  // namespace ebb
