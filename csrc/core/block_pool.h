// Blocks of memory cut out of large chunks, for the many small arrays of one structure.
//
// A block never moves. Sizes are rounded up to classes, four to each doubling, and a block that
// was given back serves the next one of its class. Chunks grow with what is held, so a small pool
// takes little; they are freed with the pool. Not synchronised.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/buffer.h"

namespace ebb {

class BlockPool {
 public:
  static constexpr std::size_t kWord = 8;  // bytes; blocks are aligned to it

  // The words of the smallest class that holds `words` (at least 1).
  static std::size_t rounded(std::size_t words) { return class_of(words).words; }

  // A block of rounded(words) words. Throws std::bad_alloc, then nothing has changed.
  void* take(std::size_t words) {
    const Class fit = class_of(words);
    if (void* const block = free_[fit.number]; block != nullptr) {
      std::memcpy(&free_[fit.number], block, sizeof(void*));
      return block;
    }
    if (left_ < fit.words) add_chunk(fit.words);
    void* const block = next_;
    next_ += fit.words;
    left_ -= fit.words;
    return block;
  }

  // `words` as they were asked for, or rounded.
  void give_back(void* block, std::size_t words) {
    void*& first = free_[class_of(words).number];
    std::memcpy(block, &first, sizeof(void*));
    first = block;
  }

  std::size_t bytes() const { return held_ * kWord + chunks_.capacity() * sizeof(Chunk); }

 private:
  using Chunk = Buffer<std::uint64_t>;

  struct Class {
    std::size_t number;
    std::size_t words;
  };

  static constexpr std::size_t kLeastChunk = std::size_t{1} << 7;
  static constexpr std::size_t kMostChunk = std::size_t{1} << 18;  // a large page
  static_assert(sizeof(void*) <= kWord);

  // 1 to 8, 10, 12, 14, 16, 20, ...: the three highest bits of a size, rounded up.
  static Class class_of(std::size_t words) {
    std::size_t shift = 0;
    while (((words - 1) >> shift) >= 8) ++shift;
    const std::size_t top = ((words - 1) >> shift) + 1;
    return {4 * shift + top, top << shift};
  }

  // What is left of the last chunk is less than the block that is asked for; it stays unused.
  void add_chunk(std::size_t words) {
    const std::size_t size = std::max(words, std::clamp(held_ / 4, kLeastChunk, kMostChunk));
    chunks_.emplace_back(size);
    next_ = chunks_.back().data();
    left_ = size;
    held_ += size;
  }

  std::vector<Chunk> chunks_;
  // By class, up to 2^31 words: a list of blocks, each of which holds the next.
  std::array<void*, 128> free_{};
  std::uint64_t* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t held_ = 0;
};

}  // namespace ebb
