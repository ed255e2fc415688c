// Strengths and times of many memories -> one number per memory: the columns a scan ranks by.
//
// Ages and idle times below 0 (clocks step back) count as 0. Time and rate share a unit, which is
// the caller's. Columns of one call have one length, which the caller checks; out has it too. Work
// goes through blocks on the stack, so a call needs no memory; values are checked on the way: when
// a call throws, what it has written to `out` means nothing.
#pragma once

#include <cstdint>

#include "core/span.h"

namespace ebb {

// Moments of a column, seen from a later one. Their difference counts in units of `unit`.
struct Elapsed {
  Span<const std::int64_t> since;
  std::int64_t now;
  double unit;
};

// What the strength of a memory depends on: strength and emotional intensity in [0, 1], and an
// anchor (retrievability at the last access) or an importance in [1, 10].
struct Strengths {
  Span<const double> base;
  Span<const double> strength;
  Span<const double> intensity;
};

// anchor * e^(-rate * idle), as float32: within 2 ulp of the real value down to e^-87, 0 below.
// For anchors in [0, 1] the result is in [0, 1]. Throws ValueError unless all values are finite
// and rates are at least 0.
void exponential_retention(Span<const double> anchor, Span<const double> idle,
                           Span<const double> rate, float* out);

// The same for columns of float32, of which it reads half as much: within 2 ulp of the real value
// for the floats given, 0 where rate * max(idle, 0), rounded to float32, is above 87.
void exponential_retention(Span<const float> anchor, Span<const float> idle, Span<const float> rate,
                           float* out);

// e^(-rate * elapsed), a float32 in a double: the bits of exponential_retention at an anchor of 1.
// Throws ValueError unless the rate is finite and at least 0.
void exponential_share(const Elapsed& elapsed, double rate, double* out);

// anchor * e^(-rate * (1 - 0.75 * strength) * (1 - 0.8 * intensity) * elapsed), likewise. Throws
// ValueError unless all values are finite and no slowed rate is below 0.
void strength_retention(const Elapsed& elapsed, const Strengths& anchored, double rate,
                        double* out);

// ln(importance) - rate * age: the logarithm of importance * e^(-rate * age), which does not
// underflow however old a memory is. Importance 0 gives minus infinity. Throws ValueError unless
// all values are finite and importances and the rate are at least 0.
void log_weights(Span<const double> importance, Span<const double> age, double rate, double* out);

// The same for ages since moments.
void log_weights(Span<const double> importance, const Elapsed& age, double rate, double* out);

// (1 + F * elapsed / stability)^-exponent, with F such that the value at elapsed == stability is
// 0.9. Throws ValueError unless all values are finite, stabilities are above 0 and the exponent is
// in [kLeastExponent, kLargestExponent].
void power_retention(Span<const double> elapsed, Span<const double> stability, double exponent,
                     double* out);

// The same for stabilities that grow threefold with each of strength, intensity and importance:
// stability * (1 + 2 * strength) * (1 + 2 * intensity) * (1 + 2 * (importance - 1) / 9).
struct PowerForgetting {
  double stability;
  double exponent;
};
void power_retention(const Elapsed& elapsed, const Strengths& important, const PowerForgetting& law,
                     double* out);

// By how much strength and intensity slow the storage-strength law.
constexpr double kStrengthProtection = 0.75;
constexpr double kEmotionProtection = 0.8;

constexpr double kLeastExponent = 0.001;
constexpr double kLargestExponent = 1000.0;

}  // namespace ebb
