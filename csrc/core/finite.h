// Refusing NaN, infinity and values out of range in whole arrays, at the speed of reading them:
// one flag for all keeps the loops free of branches.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "core/errors.h"
#include "core/span.h"

namespace ebb {

// x - x is 0 for finite x alone, and takes no branch.
template <typename T>
bool is_finite(T x) {
  return (x - x) == T{0};
}

// Throws ValueError, which names the argument and the first value that `allows` refuses; the values
// are those of a longer column from row `first` on.
template <typename T, typename Allows>
void check_values(Span<const T> values, const Allows& allows, const std::string& expected,
                  const std::string& argument, std::size_t first = 0) {
  bool allowed = true;
  for (const T value : values) allowed &= allows(value);
  if (allowed) return;
  std::size_t i = 0;
  while (i + 1 < values.size && allows(values[i])) ++i;
  throw ValueError(argument, expected,
                   std::to_string(values[i]) + " at " + std::to_string(first + i));
}

template <typename T>
void check_finite(Span<const T> values, const std::string& argument, std::size_t first = 0) {
  check_values(values, is_finite<T>, "finite values", argument, first);
}

template <typename T>
void check_not_negative(Span<const T> values, const std::string& argument, std::size_t first = 0) {
  const auto allows = [](T x) { return (x >= T{0}) & is_finite(x); };
  check_values(values, allows, "finite values of at least 0", argument, first);
}

inline void check_above_zero(Span<const double> values, const std::string& argument,
                             std::size_t first = 0) {
  const auto allows = [](double x) { return (x > 0.0) & is_finite(x); };
  check_values(values, allows, "finite values above 0", argument, first);
}

// The logarithm of a weight may be minus infinity: the weight is 0 then.
inline void check_log_weights(Span<const double> values, const std::string& argument) {
  const auto allows = [](double x) { return x <= std::numeric_limits<double>::max(); };
  check_values(values, allows, "finite values or minus infinity", argument);
}

}  // namespace ebb
