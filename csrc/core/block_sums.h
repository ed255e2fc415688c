// Small integer sums over the rows of one block of sparse rows, and which rows reach a threshold.
//
// The caller sees to it that no sum leaves 16 bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/buffer.h"
#include "core/kernel_table.h"
#include "core/span.h"
#include "core/sparse_block.h"

namespace ebb {

class BlockSums {
 public:
  static constexpr std::int32_t kMost = 32767;

  BlockSums();

  // All sums 0, for a block of so many rows.
  void clear(std::size_t rows);

  // Adds amount(count) to each row that holds a key; `amount` gives an int16.
  template <typename Amount>
  void add(const KeyRows& key, const Amount& amount) {
    std::array<std::int16_t, 8> coded{};
    for (std::size_t c = 0; c < posting::kLarge; ++c) coded[c] = amount(posting::kCounts[c]);
    add_coded(key, coded);
    for (const LargeCount& large : key.large) sums_.data()[large.row] += amount(large.count);
  }

  std::int16_t operator[](std::size_t row) const { return sums_.data()[row]; }

  // The rows whose sum is at least `least`, which is above 0, in order. Good until the next call.
  Span<const std::uint16_t> at_least(std::int16_t least);

  // The rows from `begin`, a multiple of 64, to before `end` whose sum is at least `least` and has
  // a square of at least square * value, given as numbers from `begin` on. In float: a few more
  // rows may come, which the caller tells from the right ones. Good until the next call.
  Span<const std::uint16_t> reaching(const SparseBlock& block, std::size_t begin, std::size_t end,
                                     std::int16_t least, double square);

 private:
  void add_coded(const KeyRows& key, const std::array<std::int16_t, 8>& coded);

  const KernelTable& kernels_;
  Buffer<std::int16_t> sums_;
  Buffer<std::uint16_t> chosen_;
  std::size_t padded_rows_ = 0;
};

}  // namespace ebb
