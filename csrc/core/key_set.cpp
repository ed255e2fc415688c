#include "core/key_set.h"

#include <utility>

namespace ebb {

namespace {

constexpr std::size_t kKeysPerStart = 4;
constexpr std::size_t kFewKeys = 64;  // need no table: it would be made more often than read

}  // namespace

KeySet::KeySet(std::vector<std::uint32_t> keys) : size_(keys.size()) {
  if (keys.empty()) return;
  const std::size_t words = keys.back() / 64 + std::size_t{1};
  const std::size_t apart = keys.size() * sizeof(keys[0]) * (kKeysPerStart + 1) / kKeysPerStart;
  if (words * sizeof(Word) <= apart) {
    place_bits(keys);
  } else {
    keys_ = std::move(keys);
    if (size_ >= kFewKeys) place_starts();
  }
}

void KeySet::place_bits(const std::vector<std::uint32_t>& keys) {
  words_.assign(keys.back() / 64 + std::size_t{1}, Word{});
  for (const std::uint32_t key : keys) {
    Word& word = words_[key / 64];
    (key % 64 < 32 ? word.low : word.high) |= std::uint32_t{1} << (key % 32);
  }
  std::size_t before = 0;
  for (Word& word : words_) {
    word.before = static_cast<std::uint32_t>(before);
    before += count_bits(word.bits());
  }
}

void KeySet::place_starts() {
  const std::uint32_t last = keys_.back();
  while (last >> shift_ > keys_.size() / kKeysPerStart) ++shift_;
  starts_.reserve((last >> shift_) + 2);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const std::size_t start = keys_[i] >> shift_;
    // Without keys in between, several begin at the same place.
    starts_.resize(std::max(starts_.size(), start + 1), static_cast<std::uint32_t>(i));
  }
  starts_.push_back(static_cast<std::uint32_t>(keys_.size()));
}

std::size_t KeySet::bytes() const {
  return words_.capacity() * sizeof(Word) + keys_.capacity() * sizeof(std::uint32_t) +
         starts_.capacity() * sizeof(std::uint32_t);
}

}  // namespace ebb
