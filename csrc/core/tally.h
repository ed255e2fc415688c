// Signed counts of the buckets of one text after another.
//
// Open addressing with linear probing, at most half full, so its size follows the longest text and
// not the number of buckets: a few hundred bytes for a sentence, whatever the dimension. Not
// synchronised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/span.h"

namespace ebb {

// How often a bucket occurred; signed counts may cancel to 0.
struct BucketCount {
  std::uint32_t bucket = 0;
  std::int32_t count = 0;
};

class Tally {
 public:
  Tally() : slots_(kFirstSlots) { counts_.reserve(kFirstSlots / 2); }

  void add(std::uint32_t bucket, std::int32_t sign) {
    Slot& slot = slots_[place(bucket)];
    if (slot.text == text_) {
      counts_[slot.index].count += sign;
      return;
    }
    slot = {text_, static_cast<std::uint32_t>(counts_.size())};
    counts_.push_back({bucket, sign});
    if (2 * counts_.size() >= slots_.size()) grow();
  }

  // Each bucket of the text once, in order of first occurrence. Valid until the next call.
  Span<const BucketCount> counts() const { return {counts_.data(), counts_.size()}; }

  // Start the next text.
  void clear() {
    counts_.clear();
    if (++text_ != 0) return;
    std::fill(slots_.begin(), slots_.end(), Slot{});
    text_ = 1;
  }

 private:
  // Taken only if it was written for the present text: starting a text touches no slot.
  struct Slot {
    std::uint32_t text = 0;
    std::uint32_t index = 0;
  };

  static constexpr std::size_t kFirstSlots = 64;

  // The slot that holds `bucket`, or the free one where it belongs. Buckets are hashes already.
  std::size_t place(std::uint32_t bucket) const {
    const std::size_t last = slots_.size() - 1;
    std::size_t at = bucket & last;
    while (slots_[at].text == text_ && counts_[slots_[at].index].bucket != bucket) {
      at = (at + 1) & last;
    }
    return at;
  }

  void grow() {
    slots_ = std::vector<Slot>(2 * slots_.size());
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      slots_[place(counts_[i].bucket)] = {text_, static_cast<std::uint32_t>(i)};
    }
  }

  std::vector<Slot> slots_;
  std::vector<BucketCount> counts_;
  std::uint32_t text_ = 1;
};

}  // namespace ebb
