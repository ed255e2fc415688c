#include "core/elementary.h"

#include <cstdint>
#include <cstring>
#include <limits>

namespace ebb {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// ln 2 in two parts. The first has 42 significant bits, so that its product with any exponent of
// a double is exact.
constexpr double kLn2High = 0x1.62e42fefa38p-1;
constexpr double kLn2Low = 0x1.ef35793c7673p-45;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;

// Adding and subtracting it rounds a double of moderate size to the nearest integer.
constexpr double kRounder = 0x1.8p52;

constexpr std::int64_t kSqrtHalfBits = 0x3fe6a09e667f3bcd;
constexpr int kMantissaBits = 52;
constexpr double kSmallestNormal = 0x1p-1022;
constexpr double kLargestExponent = 1e30;

// An unevaluated sum: `low` is the part of the value that `high` could not hold.
struct Twofold {
  double high;
  double low;
};

std::int64_t bits_of(double x) {
  std::int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

double from_bits(std::int64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// 2 to the n for n in [-1022, 1023].
double power_of_two(std::int64_t n) { return from_bits((n + 1023) << kMantissaBits); }

// a + b for |a| >= |b| or a == 0.
Twofold sum_of(double a, double b) {
  const double high = a + b;
  return {high, b - (high - a)};
}

// The upper 26 bits of a double.
double upper_half(double a) { return from_bits(bits_of(a) & ~std::int64_t{0x7ffffff}); }

// a * b exactly; without a fused multiply-add the factors are split in halves, whose products
// are exact.
Twofold product_of(double a, double b) {
  const double high = a * b;
  const double a_high = upper_half(a);
  const double b_high = upper_half(b);
  const double a_low = a - a_high;
  const double b_low = b - b_high;
  return {high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

// 2z/3 + 2z^2/5 + ...: what ln((1+s)/(1-s))/s - 2 is, for z = s^2 <= 0.0295. The first term left
// out is below 2^-60 of ln.
double atanh_tail(double z) {
  double sum = 2.0 / 25;
  sum = sum * z + 2.0 / 23;
  sum = sum * z + 2.0 / 21;
  sum = sum * z + 2.0 / 19;
  sum = sum * z + 2.0 / 17;
  sum = sum * z + 2.0 / 15;
  sum = sum * z + 2.0 / 13;
  sum = sum * z + 2.0 / 11;
  sum = sum * z + 2.0 / 9;
  sum = sum * z + 2.0 / 7;
  sum = sum * z + 2.0 / 5;
  sum = sum * z + 2.0 / 3;
  return sum * z;
}

// ln x for a positive, finite x, to about 2^-57.
//
// x = 2^k * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), and for s = f / (2 + f)
//   ln(1 + f) = f - (f^2/2 - s * (f^2/2 + tail(s^2))),
// where f is exact and every rounded quantity is small against it.
Twofold log_twofold(double x) {
  std::int64_t k = 0;
  if (x < kSmallestNormal) {
    x *= 0x1p54;
    k = -54;
  }
  const std::int64_t bits = bits_of(x);
  const std::int64_t octave = (bits - kSqrtHalfBits) >> kMantissaBits;
  k += octave;
  const double f = from_bits(bits - octave * (std::int64_t{1} << kMantissaBits)) - 1.0;
  const double s = f / (2.0 + f);
  const Twofold square = product_of(f, 0.5 * f);
  const double bend = s * (square.high + atanh_tail(s * s));
  const auto exponent = static_cast<double>(k);
  const Twofold first = sum_of(exponent * kLn2High, f);
  const Twofold second = sum_of(first.high, -square.high);
  const double rest = exponent * kLn2Low - square.low + first.low + second.low;
  return sum_of(second.high, bend + rest);
}

// 1/2! + r/3! + ... + r^11/13!: what (e^r - 1 - r) / r^2 is, for |r| <= 0.35.
double exp_tail(double r) {
  double sum = 1.0 / 6227020800.0;
  sum = sum * r + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  return sum * r + 0.5;
}

double scaled(double x, std::int64_t k) {
  if (k > 1023) return x * 2.0 * power_of_two(k - 1);
  if (k < -1021) return x * power_of_two(k + 60) * 0x1p-60;
  return x * power_of_two(k);
}

// e to the x.high + x.low.
double exp_twofold(Twofold x) {
  if (x.high > 709.79) return kInfinity;
  if (x.high < -745.14) return 0.0;
  const double k = (x.high * kInverseLn2 + kRounder) - kRounder;
  const double coarse = x.high - k * kLn2High;  // exact
  const double shift = k * kLn2Low - x.low;
  const double r = coarse - shift;
  const double r_low = (coarse - r) - shift;
  const Twofold linear = sum_of(1.0, r);
  const double sum = linear.high + (r * r * exp_tail(r) + (linear.low + r_low));
  return scaled(sum, static_cast<std::int64_t>(k));
}

}  // namespace

double log(double x) {
  if (!(x > 0.0)) return x == 0.0 ? -kInfinity : kNan;
  if (x == kInfinity) return kInfinity;
  return log_twofold(x).high;
}

double exp(double x) {
  if (x != x) return kNan;
  return exp_twofold({x, 0.0});
}

double pow(double base, double exponent) {
  if (exponent == 0.0 || base == 1.0) return 1.0;
  if (!(base >= 0.0) || exponent != exponent) return kNan;
  if (base == 0.0) return exponent > 0.0 ? 0.0 : kInfinity;
  if (base == kInfinity) return exponent > 0.0 ? kInfinity : 0.0;
  // |ln base| is at least 2^-54, so a larger exponent gives 0 or infinity all the same.
  const double bounded = exponent > kLargestExponent    ? kLargestExponent
                         : exponent < -kLargestExponent ? -kLargestExponent
                                                        : exponent;
  const Twofold ln = log_twofold(base);
  const Twofold product = product_of(ln.high, bounded);
  return exp_twofold(sum_of(product.high, product.low + ln.low * bounded));
}

}  // namespace ebb
