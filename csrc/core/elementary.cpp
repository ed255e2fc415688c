#include "core/elementary.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace ebb {

namespace {

#include "core/f64_one_lane.inl"

#include "core/elementary.inl"

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// |ln base| is at least 2^-54, so a larger exponent gives 0 or infinity all the same.
constexpr double kLargestExponent = 1e30;

// The result is 0 or infinity from far below on.
constexpr double kLargestPower = 1000.0;

}  // namespace

double log(double x) {
  if (!(x > 0.0)) return x == 0.0 ? -kInfinity : kNan;
  if (x == kInfinity) return kInfinity;
  return log_of(octaved_of_any(f64(x))).value;
}

double exp(double x) {
  if (x != x) return kNan;
  return exp_of(reduced({f64(x), f64(0.0)})).value;
}

double pow(double base, double exponent) {
  if (exponent == 0.0 || base == 1.0) return 1.0;
  if (!(base >= 0.0) || exponent != exponent) return kNan;
  if (base == 0.0) return exponent > 0.0 ? 0.0 : kInfinity;
  if (base == kInfinity) return exponent > 0.0 ? kInfinity : 0.0;
  const F64 bounded = min(max(f64(exponent), f64(-kLargestExponent)), f64(kLargestExponent));
  const F64 high = upper_half(bounded);
  const Twofold power =
      product_of(log_twofold(octaved_of_any(f64(base))), {high, sub(bounded, high)});
  if (power.high.value > kLargestPower) return kInfinity;
  if (power.high.value < -kLargestPower) return 0.0;
  return exp_of(reduced(power)).value;
}

}  // namespace ebb
