// Sparse rows by slot, inverted in blocks: the data that BM25 terms and word-hash vectors share.
//
// Rows take slots 0, 1, 2, ... in order of append. A new row makes a block of its own, and
// neighbours are merged as a binary counter carries, so a row is moved at most 13 times until its
// block is full (8192 rows); full blocks never change. A tombstone only leaves a mark; the row's
// postings stay until the rows are compacted. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/span.h"
#include "core/sparse_block.h"

namespace ebb {

// Row r holds the keys up to ends[r], each once, in any order, as often as counts says.
struct SparseBatch {
  Span<const std::int64_t> ends;
  Span<const std::uint32_t> keys;
  Span<const std::int32_t> counts;
  Span<const std::uint64_t> values;  // one per row
};

class SparseRows {
 public:
  // The shape of the batch is the caller's to check. When it throws, nothing was appended.
  void append(const SparseBatch& batch);

  // Replaces a row by the one row of the batch. When it throws, nothing was changed.
  void overwrite(std::size_t slot, const SparseBatch& batch);

  // Marks a row as dead; false if it was.
  bool kill(std::size_t slot);

  // The live rows alone, in order; old_to_new gets the new slot of each old one, or -1. Where
  // new_keys is given, new_keys[key] takes the place of a key.
  SparseRows compacted(std::vector<std::int64_t>& old_to_new,
                       Span<const std::uint32_t> new_keys = {}) const;

  std::size_t size() const { return size_; }
  std::size_t live() const { return live_; }
  bool is_live(std::size_t slot) const { return (alive_[slot / 64] >> (slot % 64) & 1u) != 0; }
  std::size_t bytes() const;

  // In order of slots, without gaps.
  const std::vector<SparseBlock>& blocks() const { return blocks_; }
  // The number of the block that holds a slot.
  std::size_t block_of(std::size_t slot) const;

 private:
  struct Tail;

  Tail with_appended(const SparseBatch& batch) const;

  std::vector<SparseBlock> blocks_;
  std::vector<std::uint64_t> alive_;
  std::size_t size_ = 0;
  std::size_t live_ = 0;
};

}  // namespace ebb
