#include "core/decay.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "core/dispatch.h"
#include "core/elementary.h"
#include "core/errors.h"
#include "core/finite.h"

namespace ebb {

namespace {

constexpr std::size_t kBlock = 512;
constexpr double kRetainedAtStability = 0.9;

// Below it the kernel gives 0; stopping here also keeps an overflowed product out.
constexpr double kLowestPower = -88.0;

// One block of anchor * e^(-rate * idle). What the cast of the power to float32 loses is made up
// for by a factor 1 + loss.
void retention_block(const KernelTable& kernels, const double* anchor, const double* idle,
                     const double* rate, std::size_t count, float* out) {
  double loss[kBlock];
  float power[kBlock] = {};
  for (std::size_t i = 0; i < count; ++i) {
    const double exact = std::max(-(rate[i] * std::max(idle[i], 0.0)), kLowestPower);
    power[i] = static_cast<float>(exact);
    loss[i] = exact - static_cast<double>(power[i]);
  }
  kernels.exp_f32(power, count, power);
  for (std::size_t i = 0; i < count; ++i) {
    const double decayed = static_cast<double>(power[i]) * (1.0 + loss[i]);
    out[i] = static_cast<float>(anchor[i] * decayed);
  }
}

// Importances repeat (people give whole numbers from 1 to 10), so a few logarithms are remembered.
class RememberedLog {
 public:
  double operator()(double x) {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    Entry& entry = entries_[bits * kSpread >> (64 - kEntryBits)];
    if (entry.x != x) entry = {x, log(x)};
    return entry.ln;
  }

 private:
  struct Entry {
    double x = 1.0;
    double ln = 0.0;
  };

  static constexpr std::size_t kEntryBits = 6;
  static constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // odd, its bits well mixed
  Entry entries_[std::size_t{1} << kEntryBits];
};

void check_rate(double rate) {
  if (rate >= 0.0 && rate <= std::numeric_limits<double>::max()) return;
  throw ValueError("rate", "a finite number of at least 0", std::to_string(rate));
}

void check_exponent(double exponent) {
  if (exponent >= kLeastExponent && exponent <= kLargestExponent) return;
  throw ValueError("exponent", "a number from 0.001 to 1000", std::to_string(exponent));
}

}  // namespace

void exponential_retention(Span<const double> anchor, Span<const double> idle,
                           Span<const double> rate, float* out) {
  check_finite(anchor, "anchor");
  check_finite(idle, "idle");
  check_not_negative(rate, "rate");
  const KernelTable& kernels = active();
  for (std::size_t i = 0; i < anchor.size; i += kBlock) {
    const std::size_t count = std::min(kBlock, anchor.size - i);
    retention_block(kernels, anchor.data + i, idle.data + i, rate.data + i, count, out + i);
  }
}

void log_weights(Span<const double> importance, Span<const double> age, double rate, double* out) {
  check_not_negative(importance, "importance");
  check_finite(age, "age");
  check_rate(rate);
  RememberedLog ln;
  for (std::size_t i = 0; i < importance.size; ++i) {
    out[i] = ln(importance[i]) - rate * std::max(age[i], 0.0);
  }
}

void power_retention(Span<const double> elapsed, Span<const double> stability, double exponent,
                     double* out) {
  check_finite(elapsed, "elapsed");
  check_above_zero(stability, "stability");
  check_exponent(exponent);
  const double factor = pow(kRetainedAtStability, -1.0 / exponent) - 1.0;
  for (std::size_t i = 0; i < elapsed.size; ++i) {
    const double since = std::max(elapsed[i], 0.0);
    out[i] = pow(1.0 + factor * since / stability[i], -exponent);
  }
}

}  // namespace ebb
