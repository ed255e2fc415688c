// Memory for one large result after another. What is given back is kept for the next: fresh pages
// cost a caller who embeds batch after batch more than all that is computed for them.
//
// One block of at most kMostBytes is kept. May be called from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "core/buffer.h"
#include "core/huge_pages.h"

namespace ebb {

class SpareBlock {
 public:
  using Block = Buffer<unsigned char>;

  static constexpr std::size_t kMostBytes = 4 * kHugePageBytes;

  SpareBlock() = default;
  SpareBlock(const SpareBlock&) = delete;
  SpareBlock& operator=(const SpareBlock&) = delete;
  ~SpareBlock() { delete kept_.load(std::memory_order_acquire); }

  // A block of at least `bytes` bytes, whatever is in them. Throws std::bad_alloc.
  std::unique_ptr<Block> take(std::size_t bytes) {
    std::unique_ptr<Block> kept(kept_.exchange(nullptr, std::memory_order_acq_rel));
    if (kept != nullptr && bytes <= kept->size() && kept->size() <= 2 * bytes) return kept;
    return std::make_unique<Block>(rounded(bytes));
  }

  void give(std::unique_ptr<Block> block) noexcept {
    if (block->size() > kMostBytes) return;
    delete kept_.exchange(block.release(), std::memory_order_acq_rel);
  }

 private:
  // Whole huge pages, where the last is nearly full anyway.
  static std::size_t rounded(std::size_t bytes) {
    const std::size_t beyond = bytes % kHugePageBytes;
    const std::size_t missing = beyond == 0 ? 0 : kHugePageBytes - beyond;
    return missing > bytes / 8 ? bytes : bytes + missing;
  }

  std::atomic<Block*> kept_{nullptr};
};

}  // namespace ebb
