// 64-bit key -> dense index, numbered from 0 in order of first insertion.
//
// Open addressing with linear probing, at most half full. Keys are never taken out: whoever
// needs that builds a new map. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ebb {

class IndexMap {
 public:
  static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

  std::size_t size() const { return size_; }
  std::size_t bytes() const { return cells_.capacity() * sizeof(Cell); }

  // The index of `key`, or kAbsent.
  std::uint32_t find(std::uint64_t key) const {
    return cells_.empty() ? kAbsent : cells_[place(key)].index;
  }

  // The index of `key`; an unknown key gets the next free index (the size so far).
  std::uint32_t insert(std::uint64_t key) {
    if (2 * (size_ + 1) > cells_.size()) grow();
    Cell& cell = cells_[place(key)];
    if (cell.index == kAbsent) cell = {key, static_cast<std::uint32_t>(size_++)};
    return cell.index;
  }

  // Calls visit(key, index) for every key, in no order.
  template <typename Visit>
  void each(Visit visit) const {
    for (const Cell& cell : cells_) {
      if (cell.index != kAbsent) visit(cell.key, cell.index);
    }
  }

 private:
  struct Cell {
    std::uint64_t key = 0;
    std::uint32_t index = kAbsent;
  };

  static constexpr int kFirstBits = 8;

  // The cell that holds `key`, or the free one where it belongs.
  std::size_t place(std::uint64_t key) const {
    // Multiplying by 2^64 / phi spreads keys that differ only in their low bits.
    std::size_t at = static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ull) >> (64 - bits_));
    while (cells_[at].index != kAbsent && cells_[at].key != key) {
      at = (at + 1) & (cells_.size() - 1);
    }
    return at;
  }

  void grow() {
    const int bits = cells_.empty() ? kFirstBits : bits_ + 1;
    std::vector<Cell> old(std::size_t{1} << bits);
    old.swap(cells_);
    bits_ = bits;
    for (const Cell& cell : old) {
      if (cell.index != kAbsent) cells_[place(cell.key)] = cell;
    }
  }

  std::vector<Cell> cells_;
  std::size_t size_ = 0;
  int bits_ = 0;
};

}  // namespace ebb
