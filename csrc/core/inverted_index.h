// Which texts hold which terms: the data of Postings, without its lock and without any ranking.
//
// Texts take slots 0, 1, 2, ... in order of append, also one without a term. A tombstone leaves
// every count at once; its postings stay until the index is compacted. The postings and the
// lengths are sparse rows (sparse_rows.h); here is what each term is numbered and how many live
// texts hold it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/index_map.h"
#include "core/small_counts.h"
#include "core/span.h"
#include "core/sparse_rows.h"

namespace ebb {

class InvertedIndex {
 public:
  // Text t holds the terms up to text_ends[t]. Returns the first new slot. When it throws
  // (ValueError, out of memory), nothing was appended.
  std::size_t append(Span<const std::uint64_t> term_ids, Span<const std::int64_t> text_ends);

  // Idempotent. Throws ValueError for a slot out of range, before any slot is touched. Costs one
  // look at every posting of each block that loses a text.
  void tombstone(Span<const std::int64_t> slots);

  // The live texts alone, renumbered in order; old_to_new gets the new slot of each old one, or
  // -1. Terms that no live text holds are gone.
  InvertedIndex compacted(std::vector<std::int64_t>& old_to_new) const;

  std::size_t size() const { return rows_.size(); }
  std::size_t live() const { return rows_.live(); }
  std::size_t bytes() const;

  // Mean length of the live texts, repeated terms counted; 0 when there are none.
  double mean_length() const;

  // Term numbers are the keys of the rows, lengths their values.
  const SparseRows& rows() const { return rows_; }

  // The number of a term, or IndexMap::kAbsent; and how many live texts hold it.
  std::uint32_t find(std::uint64_t term_id) const { return terms_.find(term_id); }
  std::size_t live_texts(std::uint32_t term) const {
    return term < live_texts_.size() ? live_texts_[term] : 0;
  }

  void check_slots(Span<const std::int64_t> slots) const;

 private:
  IndexMap terms_;
  SmallCounts live_texts_;  // by term
  SparseRows rows_;
  std::uint64_t live_length_ = 0;
};

}  // namespace ebb
