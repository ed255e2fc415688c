#include "core/sparse_block.h"

#include <limits>
#include <utility>

namespace ebb {

namespace {

constexpr std::size_t kSparseRows = 16;  // a bitmap pays from one row in so many
constexpr std::size_t kFewestDense = 32;
constexpr std::size_t kFewEntries = 128;

std::uint32_t key_of(std::uint64_t entry) { return static_cast<std::uint32_t>(entry >> 16); }
std::uint16_t posting_of(std::uint64_t entry) { return static_cast<std::uint16_t>(entry); }

std::uint16_t coded(std::size_t row, std::int32_t count) {
  const auto code = static_cast<std::uint16_t>(
      std::find(posting::kCounts.begin(), posting::kCounts.begin() + posting::kLarge, count) -
      posting::kCounts.begin());
  return static_cast<std::uint16_t>(row << posting::kCodeBits | code);
}

bool by_key_and_row(const LargeCount& a, const LargeCount& b) {
  return a.key != b.key ? a.key < b.key : a.row < b.row;
}

// Sorts by key; entries of one key keep their order. Counting digit by digit takes a twentieth of
// the time of comparing.
void sort_by_key(std::vector<std::uint64_t>& entries) {
  std::uint64_t all = 0;
  for (const std::uint64_t entry : entries) all |= entry;
  const int digit_bits = entries.size() < 4096 ? 8 : 11;
  const std::uint64_t digit_mask = (std::uint64_t{1} << digit_bits) - 1;
  std::vector<std::uint64_t> sorted(entries.size());
  for (int shift = 16; shift < 64 && all >> shift != 0; shift += digit_bits) {
    std::array<std::size_t, 2048> places{};
    for (const std::uint64_t entry : entries) ++places[entry >> shift & digit_mask];
    std::size_t begin = 0;
    for (std::size_t digit = 0; digit <= digit_mask; ++digit) {
      begin += places[digit];
      places[digit] = begin - places[digit];
    }
    for (const std::uint64_t entry : entries) sorted[places[entry >> shift & digit_mask]++] = entry;
    entries.swap(sorted);
  }
}

// Calls visit(begin, end) for the entries of each key.
template <typename Visit>
void each_run(const std::vector<std::uint64_t>& entries, Visit visit) {
  const std::uint64_t* const last = entries.data() + entries.size();
  for (const std::uint64_t* begin = entries.data(); begin != last;) {
    const std::uint64_t* end = begin;
    while (end != last && key_of(*end) == key_of(*begin)) ++end;
    visit(begin, end);
    begin = end;
  }
}

// A bitmap is read before the postings beside it: where a key of an old block had one, its rows
// come out of order.
void sort_by_key_and_row(std::vector<std::uint64_t>& entries) {
  if (entries.size() < kFewEntries) return std::sort(entries.begin(), entries.end());
  sort_by_key(entries);
  std::uint64_t* const last = entries.data() + entries.size();
  for (std::uint64_t* begin = entries.data(); begin != last;) {
    std::uint64_t* end = begin;
    while (end != last && key_of(*end) == key_of(*begin)) ++end;
    if (!std::is_sorted(begin, end)) std::sort(begin, end);
    begin = end;
  }
}

std::size_t times_once(const std::uint64_t* begin, const std::uint64_t* end) {
  return static_cast<std::size_t>(std::count_if(
      begin, end, [](std::uint64_t entry) { return posting::code(posting_of(entry)) == 0; }));
}

bool is_dense(const std::uint64_t* begin, const std::uint64_t* end, std::size_t rows) {
  if (static_cast<std::size_t>(end - begin) < kFewestDense) return false;
  const std::size_t once = times_once(begin, end);
  return once >= kFewestDense && once * kSparseRows > rows;
}

// How much of everything a block will hold, so that it takes no more.
struct KeyCensus {
  std::size_t keys = 0;
  std::size_t postings = 0;
  std::size_t dense = 0;
};

KeyCensus census_of(const std::vector<std::uint64_t>& entries, std::size_t rows) {
  KeyCensus census;
  each_run(entries, [&](const std::uint64_t* begin, const std::uint64_t* end) {
    const bool dense = is_dense(begin, end, rows);
    ++census.keys;
    census.dense += dense ? 1 : 0;
    census.postings += static_cast<std::size_t>(end - begin) - (dense ? times_once(begin, end) : 0);
  });
  return census;
}

}  // namespace

std::int32_t KeyRows::large_count_of(std::size_t row) const {
  return std::lower_bound(large.begin(), large.end(), row,
                          [](const LargeCount& a, std::size_t wanted) { return a.row < wanted; })
      ->count;
}

KeyRows SparseBlock::rows_of(std::size_t number) const {
  KeyRows rows;
  const std::size_t begin = begin_of(number);
  rows.postings = {postings_.data() + begin, begin_of(number + 1) - begin};
  const auto bitmap = std::lower_bound(dense_.begin(), dense_.end(), number);
  if (bitmap != dense_.end() && *bitmap == number) {
    const auto b = static_cast<std::size_t>(bitmap - dense_.begin());
    rows.once = {bits_.data() + b * words(), words()};
  }
  if (!large_counts_.empty()) {
    const auto key = static_cast<std::uint32_t>(number);
    const LargeCount low{key, 0, 0};
    const LargeCount high{key, std::numeric_limits<std::uint16_t>::max(), 0};
    const auto from =
        std::lower_bound(large_counts_.begin(), large_counts_.end(), low, by_key_and_row);
    const auto to = std::upper_bound(from, large_counts_.end(), high, by_key_and_row);
    rows.large = {large_counts_.data() + (from - large_counts_.begin()),
                  static_cast<std::size_t>(to - from)};
  }
  return rows;
}

std::uint64_t SparseBlock::large_value(std::size_t row) const {
  return std::lower_bound(large_values_.begin(), large_values_.end(), row,
                          [](const LargeValue& a, std::size_t wanted) { return a.row < wanted; })
      ->value;
}

std::size_t SparseBlock::bytes() const {
  return keys_.bytes() + bases_.capacity() * sizeof(std::uint32_t) +
         begins_.capacity() * sizeof(std::uint16_t) + postings_.capacity() * sizeof(std::uint16_t) +
         dense_.capacity() * sizeof(std::uint32_t) + bits_.capacity() * sizeof(std::uint64_t) +
         large_counts_.capacity() * sizeof(LargeCount) +
         values_.capacity() * sizeof(std::uint16_t) + large_values_.capacity() * sizeof(LargeValue);
}

void BlockBuilder::put(std::size_t row, std::uint32_t key, std::int32_t count) {
  if (count == 0) return;
  const std::uint16_t posting = coded(row, count);
  if (posting::code(posting) == posting::kLarge) {
    large_counts_.push_back({key, static_cast<std::uint16_t>(row), count});
  }
  entries_.push_back(std::uint64_t{key} << 16 | posting);
  const std::int64_t wide = count;
  const auto size = static_cast<std::uint64_t>(wide < 0 ? -wide : wide);
  largest_count_ = std::max(largest_count_, size);
}

void BlockBuilder::add_rows(const SparseBlock& other, Span<const bool> keep,
                            Span<const std::uint32_t> new_keys) {
  std::array<std::uint16_t, SparseBlock::kMaxRows> number;
  std::size_t next = rows();
  const auto kept = [&](std::size_t row) { return keep.empty() || keep[row]; };
  for (std::size_t row = 0; row < other.rows(); ++row) {
    number[row] = static_cast<std::uint16_t>(next);
    next += kept(row) ? 1 : 0;
  }
  other.keys().each([&](std::size_t i, std::uint32_t key) {
    other.rows_of(i).each([&](std::size_t row, std::int32_t count) {
      if (kept(row)) put(number[row], new_keys.empty() ? key : new_keys[key], count);
    });
  });
  for (std::size_t row = 0; row < other.rows(); ++row) {
    if (kept(row)) values_.push_back(other.value(row));
  }
}

void BlockBuilder::place_values(SparseBlock& block) const {
  block.rows_ = values_.size();
  block.values_.resize(64 * block.words());
  for (std::size_t row = 0; row < values_.size(); ++row) {
    const std::uint64_t value = values_[row];
    block.values_[row] =
        static_cast<std::uint16_t>(std::min<std::uint64_t>(value, SparseBlock::kLargeValue));
    if (value >= SparseBlock::kLargeValue) {
      block.large_values_.push_back({static_cast<std::uint16_t>(row), value});
    }
  }
  block.large_values_.shrink_to_fit();
  for (const std::uint64_t value : values_) {
    block.largest_value_ = std::max(block.largest_value_, value);
    if (value == 0) continue;
    const std::uint64_t least = block.smallest_value_;
    block.smallest_value_ = least == 0 ? value : std::min(least, value);
  }
}

void BlockBuilder::place_keys(SparseBlock& block) const {
  const KeyCensus census = census_of(entries_, rows());
  std::vector<std::uint32_t> keys;
  keys.reserve(census.keys);
  block.bases_.reserve(census.keys / SparseBlock::kKeysPerBase + 1);
  block.begins_.reserve(census.keys + 1);
  block.postings_.reserve(census.postings);
  block.dense_.reserve(census.dense);
  block.bits_.reserve(census.dense * block.words());
  // The postings of the next key begin behind those that are there.
  const auto begin_key = [&] {
    if (keys.size() % SparseBlock::kKeysPerBase == 0) {
      block.bases_.push_back(static_cast<std::uint32_t>(block.postings_.size()));
    }
    block.begins_.push_back(
        static_cast<std::uint16_t>(block.postings_.size() - block.bases_.back()));
  };
  each_run(entries_, [&](const std::uint64_t* begin, const std::uint64_t* end) {
    const bool dense = is_dense(begin, end, rows());
    const std::size_t bitmap = block.bits_.size();
    if (dense) {
      block.dense_.push_back(static_cast<std::uint32_t>(keys.size()));
      block.bits_.resize(bitmap + block.words());
    }
    begin_key();
    keys.push_back(key_of(*begin));
    for (const std::uint64_t* entry = begin; entry != end; ++entry) {
      const std::uint16_t p = posting_of(*entry);
      if (dense && posting::code(p) == 0) {
        block.bits_[bitmap + posting::row(p) / 64] |= std::uint64_t{1} << (posting::row(p) % 64);
      } else {
        block.postings_.push_back(p);
      }
    }
  });
  begin_key();
  block.keys_ = KeySet(std::move(keys));
}

void BlockBuilder::place_large_counts(SparseBlock& block) {
  for (LargeCount& large : large_counts_) {
    large.key = static_cast<std::uint32_t>(block.keys_.find(large.key));
  }
  std::sort(large_counts_.begin(), large_counts_.end(), by_key_and_row);
  large_counts_.shrink_to_fit();
  block.large_counts_ = std::move(large_counts_);
}

SparseBlock BlockBuilder::build() && {
  SparseBlock block;
  block.first_ = first_;
  block.largest_count_ = largest_count_;
  place_values(block);
  sort_by_key_and_row(entries_);
  place_keys(block);
  place_large_counts(block);
  return block;
}

}  // namespace ebb
