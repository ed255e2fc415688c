#include "core/decay.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/dispatch.h"
#include "core/elementary.h"
#include "core/errors.h"
#include "core/finite.h"

namespace ebb {

namespace {

constexpr std::size_t kBlock = 512;
static_assert(kBlock % kLanes == 0);
constexpr double kRetainedAtStability = 0.9;

// Rows first .. first + count of every column, of which kernels work on `padded`, whole lanes.
struct Block {
  std::size_t first;
  std::size_t count;
  std::size_t padded;
};

template <typename Work>
void each_block(std::size_t rows, const Work& work) {
  for (std::size_t first = 0; first < rows; first += kBlock) {
    const std::size_t count = std::min(kBlock, rows - first);
    work(Block{first, count, (count + kLanes - 1) / kLanes * kLanes});
  }
}

// A block of a column that is read: where it lies, or a copy in which the last row is repeated.
template <typename T>
class Read {
 public:
  const T* operator()(Span<const T> column, const Block& block) {
    const T* const rows = column.data + block.first;
    if (block.padded == block.count) return rows;
    std::copy_n(rows, block.count, copy_);
    std::fill(copy_ + block.count, copy_ + block.padded, copy_[block.count - 1]);
    return copy_;
  }

 private:
  T copy_[kBlock];
};

// A block of a column that is written: in place, or in a copy from which `done` takes the rows.
template <typename T>
class Written {
 public:
  T* operator()(T* column, const Block& block) {
    return block.padded == block.count ? column + block.first : copy_;
  }

  void done(T* column, const Block& block) const {
    if (block.padded != block.count) std::copy_n(copy_, block.count, column + block.first);
  }

 private:
  T copy_[kBlock];
};

// The rows of a block, for checks.
template <typename T>
Span<const T> part(Span<const T> column, const Block& block) {
  return {column.data + block.first, block.count};
}

void check_rate(double rate) {
  if (rate >= 0.0 && rate <= std::numeric_limits<double>::max()) return;
  throw ValueError("rate", "a finite number of at least 0", std::to_string(rate));
}

PowerLaw checked_power_law(double exponent) {
  if (!(exponent >= kLeastExponent && exponent <= kLargestExponent)) {
    throw ValueError("exponent", "a number from 0.001 to 1000", std::to_string(exponent));
  }
  return {pow(kRetainedAtStability, -1.0 / exponent) - 1.0, exponent};
}

// The power of one row, for a block that a kernel could not settle.
double power_of_row(double elapsed, double stability, const PowerLaw& law) {
  return pow(1.0 + law.factor * std::max(elapsed, 0.0) / stability, -law.exponent);
}

void check_strengths(const Strengths& given, const std::string& base, const Block& block) {
  check_finite(part(given.base, block), base, block.first);
  check_finite(part(given.strength, block), "strength", block.first);
  check_finite(part(given.intensity, block), "intensity", block.first);
}

template <typename T>
using Retention = bool (*)(const T*, const T*, const T*, std::size_t, float*);

template <typename T>
void retain(Retention<T> kernel, Span<const T> anchor, Span<const T> idle, Span<const T> rate,
            float* out) {
  Read<T> anchors, idles, rates;
  Written<float> written;
  each_block(anchor.size, [&](const Block& block) {
    const bool well = kernel(anchors(anchor, block), idles(idle, block), rates(rate, block),
                             block.padded, written(out, block));
    written.done(out, block);
    if (well) return;
    check_finite(part(anchor, block), "anchor", block.first);
    check_finite(part(idle, block), "idle", block.first);
    check_not_negative(part(rate, block), "rate", block.first);
  });
}

}  // namespace

void exponential_retention(Span<const double> anchor, Span<const double> idle,
                           Span<const double> rate, float* out) {
  retain(active().retention, anchor, idle, rate, out);
}

void exponential_retention(Span<const float> anchor, Span<const float> idle, Span<const float> rate,
                           float* out) {
  retain(active().float_retention, anchor, idle, rate, out);
}

void exponential_share(const Elapsed& elapsed, double rate, double* out) {
  check_rate(rate);
  Read<std::int64_t> moments;
  double anchors[kBlock];
  double rates[kBlock];
  double idle[kBlock];
  float share[kBlock];
  std::fill_n(anchors, kBlock, 1.0);
  std::fill_n(rates, kBlock, rate);
  each_block(elapsed.since.size, [&](const Block& block) {
    active().elapsed(moments(elapsed.since, block), elapsed.now, elapsed.unit, block.padded, idle);
    active().retention(anchors, idle, rates, block.padded, share);
    std::copy_n(share, block.count, out + block.first);
  });
}

void strength_retention(const Elapsed& elapsed, const Strengths& anchored, double rate,
                        double* out) {
  check_rate(rate);
  const Slowing law = {rate, kStrengthProtection, kEmotionProtection};
  Read<std::int64_t> moments;
  Read<double> anchors, strengths, intensities;
  double idle[kBlock];
  double rates[kBlock];
  float share[kBlock];
  each_block(elapsed.since.size, [&](const Block& block) {
    active().elapsed(moments(elapsed.since, block), elapsed.now, elapsed.unit, block.padded, idle);
    active().slowed_rates(strengths(anchored.strength, block),
                          intensities(anchored.intensity, block), law, block.padded, rates);
    const bool well =
        active().retention(anchors(anchored.base, block), idle, rates, block.padded, share);
    std::copy_n(share, block.count, out + block.first);
    if (well) return;
    check_strengths(anchored, "anchor", block);
    check_not_negative(Span<const double>{rates, block.count}, "rate", block.first);
  });
}

void log_weights(Span<const double> importance, Span<const double> age, double rate, double* out) {
  check_rate(rate);
  Read<double> weights, ages;
  Written<double> written;
  each_block(importance.size, [&](const Block& block) {
    const bool well = active().log_weights(weights(importance, block), ages(age, block), rate,
                                           block.padded, written(out, block));
    written.done(out, block);
    if (well) return;
    check_not_negative(part(importance, block), "importance", block.first);
    check_finite(part(age, block), "age", block.first);
  });
}

void log_weights(Span<const double> importance, const Elapsed& age, double rate, double* out) {
  check_rate(rate);
  Read<std::int64_t> moments;
  Read<double> weights;
  Written<double> written;
  double ages[kBlock];
  each_block(importance.size, [&](const Block& block) {
    active().elapsed(moments(age.since, block), age.now, age.unit, block.padded, ages);
    const bool well = active().log_weights(weights(importance, block), ages, rate, block.padded,
                                           written(out, block));
    written.done(out, block);
    if (!well) check_not_negative(part(importance, block), "importance", block.first);
  });
}

void power_retention(Span<const double> elapsed, Span<const double> stability, double exponent,
                     double* out) {
  const PowerLaw law = checked_power_law(exponent);
  Read<double> times, stabilities;
  Written<double> written;
  each_block(elapsed.size, [&](const Block& block) {
    const bool well = active().power(times(elapsed, block), stabilities(stability, block), law,
                                     block.padded, written(out, block));
    written.done(out, block);
    if (well) return;
    check_finite(part(elapsed, block), "elapsed", block.first);
    check_above_zero(part(stability, block), "stability", block.first);
    for (std::size_t i = block.first; i < block.first + block.count; ++i) {
      out[i] = power_of_row(elapsed[i], stability[i], law);
    }
  });
}

void power_retention(const Elapsed& elapsed, const Strengths& important, const PowerForgetting& law,
                     double* out) {
  const PowerLaw power_law = checked_power_law(law.exponent);
  Read<std::int64_t> moments;
  Read<double> importances, strengths, intensities;
  Written<double> written;
  double idle[kBlock];
  double stabilities[kBlock];
  each_block(elapsed.since.size, [&](const Block& block) {
    active().elapsed(moments(elapsed.since, block), elapsed.now, elapsed.unit, block.padded, idle);
    active().grown_stabilities(
        importances(important.base, block), strengths(important.strength, block),
        intensities(important.intensity, block), law.stability, block.padded, stabilities);
    const bool well =
        active().power(idle, stabilities, power_law, block.padded, written(out, block));
    written.done(out, block);
    if (well) return;
    check_strengths(important, "importance", block);
    check_above_zero({stabilities, block.count}, "stability", block.first);
    for (std::size_t i = 0; i < block.count; ++i) {
      out[block.first + i] = power_of_row(idle[i], stabilities[i], power_law);
    }
  });
}

}  // namespace ebb
