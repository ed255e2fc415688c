#include "core/sparse_rows.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ebb {

namespace {

constexpr std::size_t kMaxRows = SparseBlock::kMaxRows;

std::size_t words_for(std::size_t rows) { return (rows + 63) / 64; }

using Keep = std::array<bool, kMaxRows>;

void add_batch_row(BlockBuilder& builder, const SparseBatch& batch, std::size_t row) {
  const auto end = static_cast<std::size_t>(batch.ends[row]);
  for (std::size_t i = row == 0 ? 0 : static_cast<std::size_t>(batch.ends[row - 1]); i < end; ++i) {
    builder.add(batch.keys[i], batch.counts[i]);
  }
  builder.finish_row(batch.values[row]);
}

}  // namespace

// What the blocks from number `kept` on are replaced by.
struct SparseRows::Tail {
  std::size_t kept;
  std::vector<SparseBlock> blocks;
};

SparseRows::Tail SparseRows::with_appended(const SparseBatch& batch) const {
  Tail tail{blocks_.size(), {}};
  for (std::size_t row = 0; row < batch.ends.size;) {
    // The new rows of this block, after the open blocks they carry into.
    const std::size_t open = tail.blocks.empty() ? size_ % kMaxRows : 0;
    const std::size_t fresh = std::min(batch.ends.size - row, kMaxRows - open);
    const bool fills = open + fresh == kMaxRows;
    std::size_t count = fresh;
    while (tail.blocks.empty() && tail.kept > 0) {
      const std::size_t before = blocks_[tail.kept - 1].rows();
      if (before == kMaxRows || (before > count && !fills)) break;
      count += before;
      --tail.kept;
    }
    BlockBuilder builder(size_ + row + fresh - count);
    if (tail.blocks.empty()) {
      for (std::size_t b = tail.kept; b < blocks_.size(); ++b) builder.add_rows(blocks_[b]);
    }
    for (const std::size_t end = row + fresh; row < end; ++row) add_batch_row(builder, batch, row);
    tail.blocks.push_back(std::move(builder).build());
  }
  return tail;
}

void SparseRows::append(const SparseBatch& batch) {
  if (batch.ends.empty()) return;
  Tail tail = with_appended(batch);
  const std::size_t size = size_ + batch.ends.size;
  blocks_.reserve(tail.kept + tail.blocks.size());
  if (words_for(size) > alive_.capacity()) {
    alive_.reserve(std::max(words_for(size), alive_.size() + alive_.size() / 2));
  }
  // From here on nothing throws.
  blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(tail.kept), blocks_.end());
  for (SparseBlock& block : tail.blocks) blocks_.push_back(std::move(block));
  alive_.resize(words_for(size));
  for (std::size_t slot = size_; slot < size; ++slot) {
    alive_[slot / 64] |= std::uint64_t{1} << (slot % 64);
  }
  size_ = size;
  live_ += batch.ends.size;
}

void SparseRows::overwrite(std::size_t slot, const SparseBatch& batch) {
  SparseBlock& block = blocks_[block_of(slot)];
  const std::size_t row = slot - block.first();
  BlockBuilder builder(block.first());
  Keep keep;
  for (std::size_t r = 0; r < block.rows(); ++r) keep[r] = r < row;
  builder.add_rows(block, {keep.data(), block.rows()});
  add_batch_row(builder, batch, 0);
  for (std::size_t r = 0; r < block.rows(); ++r) keep[r] = r > row;
  builder.add_rows(block, {keep.data(), block.rows()});
  block = std::move(builder).build();
}

bool SparseRows::kill(std::size_t slot) {
  if (!is_live(slot)) return false;
  alive_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
  --live_;
  return true;
}

SparseRows SparseRows::compacted(std::vector<std::int64_t>& old_to_new,
                                 Span<const std::uint32_t> new_keys) const {
  SparseRows fresh;
  old_to_new.assign(size_, -1);
  BlockBuilder builder(0);
  for (const SparseBlock& block : blocks_) {
    std::size_t row = 0;
    while (row < block.rows()) {
      Keep keep{};
      for (std::size_t room = kMaxRows - builder.rows(); row < block.rows() && room > 0; ++row) {
        keep[row] = is_live(block.first() + row);
        if (!keep[row]) continue;
        --room;
        old_to_new[block.first() + row] = static_cast<std::int64_t>(fresh.size_++);
      }
      builder.add_rows(block, {keep.data(), block.rows()}, new_keys);
      if (!builder.full()) continue;
      fresh.blocks_.push_back(std::move(builder).build());
      builder = BlockBuilder(fresh.size_);
    }
  }
  if (builder.rows() > 0) fresh.blocks_.push_back(std::move(builder).build());
  fresh.blocks_.shrink_to_fit();
  fresh.live_ = fresh.size_;
  fresh.alive_.assign(words_for(fresh.size_), ~std::uint64_t{0});
  return fresh;
}

std::size_t SparseRows::bytes() const {
  std::size_t bytes =
      blocks_.capacity() * sizeof(SparseBlock) + alive_.capacity() * sizeof(std::uint64_t);
  for (const SparseBlock& block : blocks_) bytes += block.bytes();
  return bytes;
}

std::size_t SparseRows::block_of(std::size_t slot) const {
  // All but the last few blocks are full.
  std::size_t block = std::min(slot / kMaxRows, blocks_.size() - 1);
  while (block + 1 < blocks_.size() && blocks_[block + 1].first() <= slot) ++block;
  return block;
}

}  // namespace ebb
