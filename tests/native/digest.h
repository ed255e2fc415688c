// Inputs that are the same on every machine, and one number for all that comes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

// Around whole lanes, and many.
constexpr std::size_t kCounts[] = {0, 1, 15, 16, 17, 31, 33, 1000};

// SplitMix64: a few whole-number operations, the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

  // In [low, high).
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1p-53);
  }

  std::vector<float> floats(std::size_t count, double low, double high) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(uniform(low, high));
    return values;
  }

  std::vector<double> doubles(std::size_t count, double low, double high) {
    std::vector<double> values(count);
    for (double& value : values) value = uniform(low, high);
    return values;
  }

  // Both signs, magnitudes from 2^-60 to 2^60.
  std::vector<float> wide_floats(std::size_t count) {
    std::vector<float> values(count);
    for (float& value : values) {
      const std::uint64_t word = bits();
      const auto exponent = static_cast<std::uint32_t>(127 - 60 + word % 120);
      const auto sign_and_mantissa = static_cast<std::uint32_t>(word >> 32) & 0x807fffffU;
      const std::uint32_t pattern = sign_and_mantissa | exponent << 23;
      std::memcpy(&value, &pattern, sizeof value);
    }
    return values;
  }

 private:
  std::uint64_t state_;
};

// FNV-1a over the bytes of values, least significant byte first.
class Digest {
 public:
  template <typename T>
  void take(const std::vector<T>& values) {
    static_assert(std::is_arithmetic_v<T>);
    for (const T value : values) {
      std::uint64_t word = 0;
      std::memcpy(&word, &value, sizeof value);
      for (std::size_t byte = 0; byte < sizeof value; ++byte) {
        hash_ = (hash_ ^ (word >> 8 * byte & 0xff)) * 0x100000001b3;
      }
    }
  }

  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};
