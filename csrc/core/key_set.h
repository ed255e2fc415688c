// A set of 32-bit keys, numbered from 0 in ascending order. Made once, then never changed.
//
// Where keys lie close there is a bit for each key there could be, and for every 64 of them how
// many keys come before: 1.5 bits per key there could be. Where they lie far apart there are the
// keys themselves, and a coarse table that tells where to look: 5 bytes per key. It takes whichever
// is less.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/bits.h"

namespace ebb {

class KeySet {
 public:
  static constexpr std::size_t kAbsent = std::numeric_limits<std::size_t>::max();

  KeySet() = default;
  // Of distinct keys, ascending, in a vector without spare room. Throws std::bad_alloc.
  explicit KeySet(std::vector<std::uint32_t> keys);

  std::size_t size() const { return size_; }
  std::size_t bytes() const;

  // The number of a key, or kAbsent.
  std::size_t find(std::uint32_t key) const {
    return words_.empty() ? found_among_keys(key) : found_among_bits(key);
  }

  // Calls visit(number, key) for every key, ascending.
  template <typename Visit>
  void each(Visit visit) const;

 private:
  // The keys from 64 * (the word's place) on; two halves, so that a word takes 12 bytes.
  struct Word {
    std::uint32_t low;
    std::uint32_t high;
    std::uint32_t before;

    std::uint64_t bits() const { return std::uint64_t{high} << 32 | low; }
  };

  std::size_t found_among_bits(std::uint32_t key) const {
    const std::size_t place = key / 64;
    if (place >= words_.size()) return kAbsent;
    const std::uint64_t bits = words_[place].bits();
    const std::uint64_t bit = std::uint64_t{1} << (key % 64);
    if ((bits & bit) == 0) return kAbsent;
    return words_[place].before + count_bits(bits & (bit - 1));
  }

  std::size_t found_among_keys(std::uint32_t key) const {
    std::size_t begin = 0;
    std::size_t end = keys_.size();
    if (!starts_.empty()) {
      const std::size_t start = key >> shift_;
      if (start + 1 >= starts_.size()) return kAbsent;
      begin = starts_[start];
      end = starts_[start + 1];
    }
    const std::uint32_t* const last = keys_.data() + end;
    const std::uint32_t* const at = std::lower_bound(keys_.data() + begin, last, key);
    return at == last || *at != key ? kAbsent : static_cast<std::size_t>(at - keys_.data());
  }

  void place_bits(const std::vector<std::uint32_t>& keys);
  void place_starts();

  std::size_t size_ = 0;
  std::vector<Word> words_;  // or:
  std::vector<std::uint32_t> keys_;
  std::vector<std::uint32_t> starts_;  // of the keys with the same key >> shift_, and the end
  unsigned shift_ = 0;
};

template <typename Visit>
void KeySet::each(Visit visit) const {
  std::size_t number = 0;
  for (std::size_t w = 0; w < words_.size(); ++w) {
    for (std::uint64_t left = words_[w].bits(); left != 0; left &= left - 1) {
      visit(number++, static_cast<std::uint32_t>(64 * w + lowest_bit(left)));
    }
  }
  for (const std::uint32_t key : keys_) visit(number++, key);
}

}  // namespace ebb
