// 64-bit key -> dense index, numbered from 0 in order of first insertion.
//
// The keys stand in a list by index; a table of 32-bit cells says where each is. Open addressing
// with linear probing, at most 7 cells in 10 taken. A cell holds the index and, in the bits the
// index leaves, a piece of the key's hash, so a look that finds another key in its way seldom has
// to read that key. Both grow by a quarter: 14 to 18 bytes per key. Keys are never taken out:
// whoever needs that builds a new map. Not synchronised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ebb {

class IndexMap {
 public:
  static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

  std::size_t size() const { return keys_.size(); }
  std::size_t bytes() const {
    return keys_.capacity() * sizeof(std::uint64_t) + cells_.capacity() * sizeof(std::uint32_t);
  }

  // The index of `key`, or kAbsent.
  std::uint32_t find(std::uint64_t key) const {
    return cells_.empty() ? kAbsent : index_at(place(key));
  }

  // The index of `key`; an unknown key gets the next free index (the size so far). Throws
  // std::bad_alloc, then nothing was inserted.
  std::uint32_t insert(std::uint64_t key) {
    if (size() == keys_.capacity()) {
      if (const std::uint32_t known = find(key); known != kAbsent) return known;
      rebuild(size() + std::max(kLeastGrowth, size() / 4));
    }
    const std::size_t at = place(key);
    if (cells_[at] == kFree) {
      keys_.push_back(key);
      cells_[at] = cell_of(hash(key), size());
    }
    return index_at(at);
  }

  // Gives back the room for further keys. Throws std::bad_alloc, then nothing was changed.
  void fit() {
    if (size() < keys_.capacity()) rebuild(size());
  }

  // Calls visit(key, index) for every key, in order of index.
  template <typename Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i < size(); ++i) visit(keys_[i], static_cast<std::uint32_t>(i));
  }

 private:
  // A cell holds index + 1 in the bits of number_mask_, and above them those of the hash.
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::size_t kLeastGrowth = 16;

  // Multiplying by 2^64 / phi spreads keys that differ only in their low bits. The high half
  // says where to begin, the low half goes into the cell.
  static std::uint64_t hash(std::uint64_t key) { return key * 0x9E3779B97F4A7C15ull; }

  std::size_t home(std::uint64_t hash) const {
    return static_cast<std::size_t>((hash >> 32) * cells_.size() >> 32);
  }
  std::uint32_t cell_of(std::uint64_t hash, std::size_t number) const {
    return (static_cast<std::uint32_t>(hash) & ~number_mask_) | static_cast<std::uint32_t>(number);
  }
  std::uint32_t index_at(std::size_t at) const { return (cells_[at] & number_mask_) - 1; }

  // The cell that holds `key`, or the free one where it belongs.
  std::size_t place(std::uint64_t key) const {
    const std::uint64_t wanted = hash(key);
    const std::uint32_t tag = cell_of(wanted, 0);
    std::size_t at = home(wanted);
    for (std::uint32_t cell = cells_[at]; cell != kFree; cell = cells_[at]) {
      const std::uint32_t number = cell ^ tag;
      if (number <= number_mask_ && keys_[number - 1] == key) break;
      if (++at == cells_.size()) at = 0;
    }
    return at;
  }

  // Makes room for so many keys in all, at least as many as there are, and no more.
  void rebuild(std::size_t room) {
    std::vector<std::uint64_t> keys;
    keys.reserve(room);
    std::vector<std::uint32_t> cells(room + room * 3 / 7 + 1);
    keys.assign(keys_.begin(), keys_.end());
    keys_.swap(keys);
    cells_.swap(cells);
    number_mask_ = 0;
    while (number_mask_ < room) number_mask_ = 2 * number_mask_ + 1;
    for (std::size_t i = 0; i < size(); ++i) {
      const std::uint64_t own = hash(keys_[i]);
      std::size_t at = home(own);
      while (cells_[at] != kFree) at = at + 1 == cells_.size() ? 0 : at + 1;
      cells_[at] = cell_of(own, i + 1);
    }
  }

  std::vector<std::uint64_t> keys_;   // by index; filled up to their room, then rebuilt
  std::vector<std::uint32_t> cells_;  // none until there is a key
  std::uint32_t number_mask_ = 0;
};

}  // namespace ebb
