// Logarithm, exponential and power for everything that ranks.
//
// Only additions, multiplications, divisions and bit moves of IEEE doubles, so every machine gets
// the same bits; the C library's functions differ between machines. Inside namespace ebb the
// short names mean these.
#pragma once

namespace ebb {

// Natural logarithm, within 1 ulp. log(0) is minus infinity; below zero the result is NaN.
double log(double x);

// e to the x, within 1 ulp, or within 1.5 where the result is subnormal (x < -708.3). Above
// 709.79 the result is infinity, below -745.14 it is 0.
double exp(double x);

// `base` to the `exponent` for base >= 0, within 2 ulp while |exponent * ln(base)| <= 8; the error
// grows in proportion beyond that. A negative base gives NaN; 0 to the 0 is 1.
double pow(double base, double exponent);

}  // namespace ebb
