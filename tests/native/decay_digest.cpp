#include "decay_digest.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/decay.h"
#include "core/dispatch.h"
#include "core/elementary.h"
#include "digest.h"

namespace decay_digest {

using ebb::KernelTable;

// Columns of decay take whole lanes.
constexpr std::size_t kColumn = 1008;

std::uint64_t elapsed(const KernelTable& kernels) {
  Random random(10);
  Digest digest;
  std::vector<std::int64_t> since(kColumn);
  for (std::size_t i = 0; i < kColumn; ++i) {
    since[i] = static_cast<std::int64_t>(random.bits()) >> i % 64;
  }
  std::vector<double> out(kColumn);
  for (const std::int64_t now : {std::int64_t{0}, std::int64_t{1} << 50, INT64_MIN, INT64_MAX}) {
    kernels.elapsed(since.data(), now, 3.6e9, kColumn, out.data());
    digest.take(out);
  }
  return digest.value();
}

std::uint64_t slowed_rates(const KernelTable& kernels) {
  Random random(19);
  Digest digest;
  const std::vector<double> strength = random.doubles(kColumn, -1.0, 2.0);
  const std::vector<double> intensity = random.doubles(kColumn, -1.0, 2.0);
  std::vector<double> out(kColumn);
  kernels.slowed_rates(strength.data(), intensity.data(), {0.01, 0.75, 0.8}, kColumn, out.data());
  digest.take(out);
  return digest.value();
}

std::uint64_t grown_stabilities(const KernelTable& kernels) {
  Random random(20);
  Digest digest;
  const std::vector<double> importance = random.doubles(kColumn, 0.0, 10.0);
  const std::vector<double> strength = random.doubles(kColumn, -1.0, 2.0);
  const std::vector<double> intensity = random.doubles(kColumn, -1.0, 2.0);
  std::vector<double> out(kColumn);
  kernels.grown_stabilities(importance.data(), strength.data(), intensity.data(), 720.0, kColumn,
                            out.data());
  digest.take(out);
  return digest.value();
}

std::uint64_t retention(const KernelTable& kernels) {
  Random random(11);
  Digest digest;
  const std::vector<double> anchor = random.doubles(kColumn, 0.0, 1.0);
  const std::vector<double> rate = random.doubles(kColumn, 0.0, 0.02);
  std::vector<float> out(kColumn);
  for (const double most : {1.0, 100.0, 1e4, 1e300}) {
    const std::vector<double> idle = random.doubles(kColumn, -1.0, most);
    const bool well =
        kernels.retention(anchor.data(), idle.data(), rate.data(), kColumn, out.data());
    digest.take(std::vector<bool>{well});
    digest.take(out);
  }
  return digest.value();
}

std::uint64_t float_retention(const KernelTable& kernels) {
  Random random(21);
  Digest digest;
  const std::vector<float> anchor = random.floats(kColumn, 0.0, 1.0);
  const std::vector<float> rate = random.floats(kColumn, 0.0, 0.02);
  std::vector<float> out(kColumn);
  for (const double most : {1.0, 100.0, 1e4, 3e38}) {
    const std::vector<float> idle = random.floats(kColumn, -1.0, most);
    const bool well =
        kernels.float_retention(anchor.data(), idle.data(), rate.data(), kColumn, out.data());
    digest.take(std::vector<bool>{well});
    digest.take(out);
  }
  return digest.value();
}

std::uint64_t log_weights(const KernelTable& kernels) {
  Random random(12);
  Digest digest;
  std::vector<double> importance = random.doubles(kColumn, 0.0, 10.0);
  for (std::size_t i = 0; i < kColumn; i += 2) {  // any positive double, subnormal ones too
    const std::uint64_t pattern = random.bits() % 0x7ff0000000000000;
    std::memcpy(&importance[i], &pattern, sizeof pattern);
  }
  importance[1] = 0.0;
  const std::vector<double> age = random.doubles(kColumn, -10.0, 1e6);
  std::vector<double> out(kColumn);
  const bool well = kernels.log_weights(importance.data(), age.data(), 0.05, kColumn, out.data());
  digest.take(std::vector<bool>{well});
  digest.take(out);
  return digest.value();
}

std::uint64_t power(const KernelTable& kernels) {
  Random random(13);
  Digest digest;
  const std::vector<double> stability = random.doubles(kColumn, 1e-3, 2000.0);
  std::vector<double> out(kColumn);
  for (const double most : {1.0, 1e4, 1e9}) {
    for (const double exponent : {0.001, 0.1542, 1000.0}) {
      const std::vector<double> times = random.doubles(kColumn, -1.0, most);
      const ebb::PowerLaw law = {0.98, exponent};
      const bool well = kernels.power(times.data(), stability.data(), law, kColumn, out.data());
      digest.take(std::vector<bool>{well});
      digest.take(out);
    }
  }
  return digest.value();
}

// The core's own logarithm, exponential and power, which use no kernel.
std::uint64_t elementary(const KernelTable&) {
  Random random(14);
  Digest digest;
  std::vector<double> out;
  for (const double span : {1e-9, 1.0, 50.0, 750.0}) {
    for (int i = 0; i < 1000; ++i) {
      const double power = random.uniform(-span, span);
      const double base = ebb::exp(power);
      out.insert(out.end(), {base, ebb::log(base), ebb::pow(base, random.uniform(-3.0, 3.0))});
    }
  }
  digest.take(out);
  return digest.value();
}

// The laws of forgetting from microseconds, on every number of rows that is not whole lanes.
std::uint64_t laws(const KernelTable& kernels) {
  ebb::choose(kernels.name);
  Random random(15);
  Digest digest;
  for (const std::size_t count : kCounts) {
    std::vector<std::int64_t> moments(count);
    for (std::int64_t& moment : moments) moment = static_cast<std::int64_t>(random.bits() >> 14);
    const ebb::Elapsed elapsed = {{moments.data(), count}, std::int64_t{1} << 50, 3.6e9};
    const std::vector<double> base = random.doubles(count, 0.0, 1.0);
    const std::vector<double> strength = random.doubles(count, 0.0, 1.0);
    const std::vector<double> intensity = random.doubles(count, 0.0, 1.0);
    const ebb::Strengths given = {
        {base.data(), count}, {strength.data(), count}, {intensity.data(), count}};
    std::vector<double> out(count);
    ebb::exponential_share(elapsed, 1e-5, out.data());
    digest.take(out);
    ebb::strength_retention(elapsed, given, 1e-4, out.data());
    digest.take(out);
    ebb::log_weights(given.base, elapsed, 1e-3, out.data());
    digest.take(out);
    ebb::power_retention(elapsed, given, {720.0, 0.1542}, out.data());
    digest.take(out);
  }
  return digest.value();
}

}  // namespace decay_digest
