// At most 8192 sparse rows, inverted: which rows hold a key, and how often. Built once, then
// never changed, so it takes exactly what it needs.
//
// A posting is 16 bits: the row's place in the block, and a code for its count. Counts without a
// code stand in a list of their own. A key that more than one row in 16 holds has a bitmap of the
// rows that hold it once, and postings of the others alone: an eighth of a byte per row, and a
// kernel adds it up. Beside the postings, a value per row (a length, a squared norm) in 16 bits;
// larger ones again apart. Keys are numbered (key_set.h); where a key's postings begin is told in
// 16 bits, from where those of the first in eight do. 2 bytes per posting, 2 per row, and 3 to 7
// per distinct key of the block.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/bits.h"
#include "core/key_set.h"
#include "core/span.h"

namespace ebb {

// A count that has no code, or a value above 16 bits.
struct LargeCount {
  std::uint32_t key;  // its number in the block
  std::uint16_t row;
  std::int32_t count;
};
struct LargeValue {
  std::uint16_t row;
  std::uint64_t value;
};

namespace posting {
constexpr int kCodeBits = 3;
constexpr std::uint16_t kLarge = 7;  // the count is among the large ones
constexpr std::array<std::int32_t, 8> kCounts{1, 2, 3, 4, -1, -2, -3, 0};

inline std::size_t row(std::uint16_t posting) { return posting >> kCodeBits; }
inline std::size_t code(std::uint16_t posting) { return posting & 7u; }

// The first posting of a row not below `row`, or the end. Which half to go on in follows no
// pattern, so it is chosen by arithmetic and not by a branch.
inline const std::uint16_t* first_from(Span<const std::uint16_t> postings, std::size_t row) {
  const auto least = static_cast<std::uint16_t>(row << kCodeBits);
  const std::uint16_t* begin = postings.data;
  std::size_t left = postings.size;
  while (left > 1) {
    const std::size_t half = left / 2;
    begin += half * static_cast<std::size_t>(begin[half - 1] < least);
    left -= half;
  }
  return begin + static_cast<std::size_t>(left == 1 && *begin < least);
}
}  // namespace posting

// The rows of a block that hold one key: those of the bitmap once, and those of the postings
// (ascending) as often as they say. No row is in both.
struct KeyRows {
  Span<const std::uint64_t> once;
  Span<const std::uint16_t> postings;
  Span<const LargeCount> large;

  bool empty() const { return once.empty() && postings.empty(); }

  // The count of a row; 0 if it does not hold the key.
  std::int32_t count_of(std::size_t row) const {
    if (!once.empty() && (once[row / 64] >> (row % 64) & 1u) != 0) return 1;
    const std::uint16_t* const found = posting::first_from(postings, row);
    if (found == postings.end() || posting::row(*found) != row) return 0;
    const std::size_t code = posting::code(*found);
    return code != posting::kLarge ? posting::kCounts[code] : large_count_of(row);
  }

  // Calls visit(row, count) for every row that holds the key: the bitmap's, then the others.
  template <typename Visit>
  void each(Visit visit) const;

 private:
  // The row has a posting that says its count is large.
  std::int32_t large_count_of(std::size_t row) const;
};

class SparseBlock {
 public:
  static constexpr std::size_t kMaxRows = std::size_t{1} << 13;

  std::size_t first() const { return first_; }  // slot of row 0
  std::size_t rows() const { return rows_; }

  KeyRows find(std::uint32_t key) const {
    const std::size_t number = keys_.find(key);
    return number == KeySet::kAbsent ? KeyRows{} : rows_of(number);
  }

  // Those that some row holds, and the rows that hold one of them, by its number there.
  const KeySet& keys() const { return keys_; }
  KeyRows rows_of(std::size_t number) const;

  std::uint64_t value(std::size_t row) const {
    return values_[row] != kLargeValue ? values_[row] : large_value(row);
  }
  // The values again, with 65535 for larger ones; zeros up to a multiple of 64 rows.
  const std::uint16_t* small_values() const { return values_.data(); }
  // The smallest above 0; 0 when there is none.
  std::uint64_t smallest_value() const { return smallest_value_; }
  std::uint64_t largest_value() const { return largest_value_; }
  // The largest count without its sign; 0 when no row holds a key.
  std::uint64_t largest_count() const { return largest_count_; }

  std::size_t bytes() const;

 private:
  friend class BlockBuilder;

  static constexpr std::uint16_t kLargeValue = std::numeric_limits<std::uint16_t>::max();

  std::uint64_t large_value(std::size_t row) const;

  // Bitmap b belongs to key number dense_[b]; it has (rows() + 63) / 64 words.
  std::size_t words() const { return (rows() + 63) / 64; }

  // Seven keys have fewer postings than 16 bits count: each row has one at most.
  static constexpr std::size_t kKeysPerBase = 8;
  static_assert((kKeysPerBase - 1) * kMaxRows <= std::numeric_limits<std::uint16_t>::max());

  // The first posting of a key; of the number of keys, the end of them all.
  std::size_t begin_of(std::size_t number) const {
    return bases_[number / kKeysPerBase] + begins_[number];
  }

  std::size_t first_ = 0;
  std::size_t rows_ = 0;
  KeySet keys_;
  std::vector<std::uint32_t> bases_;   // where the postings of every eighth key begin
  std::vector<std::uint16_t> begins_;  // from there, those of each key, and the end
  std::vector<std::uint16_t> postings_;
  std::vector<std::uint32_t> dense_;
  std::vector<std::uint64_t> bits_;
  std::vector<LargeCount> large_counts_;  // by key, then row
  std::vector<std::uint16_t> values_;     // as small_values() says
  std::vector<LargeValue> large_values_;  // by row
  std::uint64_t smallest_value_ = 0;
  std::uint64_t largest_value_ = 0;
  std::uint64_t largest_count_ = 0;
};

// Collects rows, then makes a block of them.
class BlockBuilder {
 public:
  explicit BlockBuilder(std::size_t first) : first_(first) {}

  std::size_t rows() const { return values_.size(); }
  bool full() const { return rows() == SparseBlock::kMaxRows; }

  // The row being collected holds the key so often; 0 is ignored. A key comes once per row.
  void add(std::uint32_t key, std::int32_t count) { put(rows(), key, count); }
  void finish_row(std::uint64_t value) { values_.push_back(value); }

  // The rows of `other` with a true keep[row] (all where it is empty) follow the ones collected so
  // far, in order. Where new_keys is given, new_keys[key] takes the place of a key.
  void add_rows(const SparseBlock& other, Span<const bool> keep = {},
                Span<const std::uint32_t> new_keys = {});

  SparseBlock build() &&;

 private:
  void put(std::size_t row, std::uint32_t key, std::int32_t count);
  void place_values(SparseBlock& block) const;
  void place_keys(SparseBlock& block) const;
  void place_large_counts(SparseBlock& block);

  std::size_t first_;
  std::vector<std::uint64_t> entries_;    // key << 16 | posting
  std::vector<LargeCount> large_counts_;  // with their keys
  std::vector<std::uint64_t> values_;
  std::uint64_t largest_count_ = 0;
};

template <typename Visit>
void KeyRows::each(Visit visit) const {
  for (std::size_t w = 0; w < once.size; ++w) {
    for (std::uint64_t left = once[w]; left != 0; left &= left - 1) {
      visit(64 * w + lowest_bit(left), std::int32_t{1});
    }
  }
  for (const std::uint16_t p : postings) {
    const std::int32_t coded = posting::kCounts[posting::code(p)];
    visit(posting::row(p), coded != 0 ? coded : count_of(posting::row(p)));
  }
}

}  // namespace ebb
