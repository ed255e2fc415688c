// Strengths and times of many memories -> one number per memory: the columns a scan ranks by.
//
// Ages and idle times below 0 (clocks step back) count as 0. Time and rate share a unit, which is
// the caller's. Columns of one call have one length, which the caller checks; out has it too. Work
// goes through blocks on the stack, so a call needs no memory.
#pragma once

#include "core/span.h"

namespace ebb {

// anchor * e^(-rate * idle), as float32: within 2 ulp of the real value down to e^-87, 0 below.
// For anchors in [0, 1] the result is in [0, 1]. Throws ValueError unless all values are finite
// and rates are at least 0.
void exponential_retention(Span<const double> anchor, Span<const double> idle,
                           Span<const double> rate, float* out);

// ln(importance) - rate * age: the logarithm of importance * e^(-rate * age), which does not
// underflow however old a memory is. Importance 0 gives minus infinity. Throws ValueError unless
// all values are finite and importances and the rate are at least 0.
void log_weights(Span<const double> importance, Span<const double> age, double rate, double* out);

// (1 + F * elapsed / stability)^-exponent, with F such that the value at elapsed == stability is
// 0.9. Throws ValueError unless all values are finite, stabilities are above 0 and the exponent is
// in [kLeastExponent, kLargestExponent].
void power_retention(Span<const double> elapsed, Span<const double> stability, double exponent,
                     double* out);

constexpr double kLeastExponent = 0.001;
constexpr double kLargestExponent = 1000.0;

}  // namespace ebb
