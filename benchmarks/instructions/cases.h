// Pieces of work on fixed inputs, whose instructions are counted (see benchmarks/instructions.py).
//
// A case makes its inputs when it is looked up and does its work when it is called; only the call
// is counted. Inputs are the same everywhere: they come from a generator of the case's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/kernel_table.h"

namespace counted {

using Work = std::function<void()>;
using Cases = std::map<std::string, std::function<Work()>>;

// Knuth's MMIX generator.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}

  std::size_t below(std::size_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state_ >> 33) % limit;
  }
  // In [-1, 1].
  float real() { return static_cast<float>(below(2001)) / 1000.0f - 1.0f; }

 private:
  std::uint64_t state_;
};

// `count` rows of unit length, back to back, padded with zeros to whole lanes.
std::vector<float> unit_rows(std::size_t count, std::size_t dim, std::uint64_t seed);

Cases kernel_cases(const ebb::KernelTable& table);
Cases word_cases();
Cases memory_cases();
Cases link_cases();

}  // namespace counted
