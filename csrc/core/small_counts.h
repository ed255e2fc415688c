// Counts by number, nearly all of them small: a byte each; those of 255 and more stand apart, and
// stay there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/index_map.h"
#include "core/span.h"

namespace ebb {

class SmallCounts {
 public:
  std::size_t size() const { return small_.size(); }
  std::size_t bytes() const {
    return small_.capacity() + places_.bytes() + large_.capacity() * sizeof(std::uint32_t);
  }

  std::uint32_t operator[](std::size_t number) const {
    return small_[number] != kLarge ? small_[number] : large_[places_.find(number)];
  }

  // New counts are 0. The first take no more room than they need, later ones a quarter more. Throws
  // std::bad_alloc, then nothing was changed.
  void grow(std::size_t size);

  // Throws std::bad_alloc, then the count is as it was.
  void set(std::size_t number, std::uint32_t count);

  // One more for each of the numbers, which may repeat. Throws std::bad_alloc, then nothing was
  // changed.
  void add(Span<const std::uint32_t> numbers);

  // By no more than there is.
  void subtract(std::size_t number, std::uint32_t amount) {
    if (small_[number] != kLarge) {
      small_[number] = static_cast<std::uint8_t>(small_[number] - amount);
    } else {
      large_[places_.find(number)] -= amount;
    }
  }

 private:
  static constexpr std::uint8_t kLarge = std::numeric_limits<std::uint8_t>::max();

  void add_one(std::size_t number) {
    if (small_[number] + 1u < kLarge) {
      ++small_[number];
    } else if (small_[number] == kLarge) {
      ++large_[places_.find(number)];
    } else {
      set(number, kLarge);
    }
  }
  void add_one_by_one(Span<const std::uint32_t> numbers);
  void add_summed_up(Span<const std::uint32_t> numbers);

  std::vector<std::uint8_t> small_;
  IndexMap places_;  // of the large ones
  std::vector<std::uint32_t> large_;
};

}  // namespace ebb
