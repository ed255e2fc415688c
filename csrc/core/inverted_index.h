// Which texts hold which terms: the data of Postings, without its lock and without any ranking.
//
// Texts take slots 0, 1, 2, ... in order of append, also one without a term. A tombstone leaves
// every count at once; its postings stay until the index is compacted. Per term: an array of
// postings in ascending order of slot. Per slot: its distinct terms, in one pool. 12 bytes per
// distinct term of a text, 13 per text, some 90 per term, before growth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/index_map.h"
#include "core/span.h"

namespace ebb {

struct Posting {
  std::uint32_t slot;
  std::uint32_t count;  // of the term in the text
};

class InvertedIndex {
 public:
  // Text t holds the terms up to text_ends[t]. Returns the first new slot. When it throws
  // (ValueError, out of memory), nothing was appended.
  std::size_t append(Span<const std::uint64_t> term_ids, Span<const std::int64_t> text_ends);

  // Idempotent. Throws ValueError for a slot out of range, before any slot is touched.
  void tombstone(Span<const std::int64_t> slots);

  // The live texts alone, renumbered in order; old_to_new gets the new slot of each old one, or
  // -1. Terms that no live text holds are gone.
  InvertedIndex compacted(std::vector<std::int64_t>& old_to_new) const;

  std::size_t size() const { return alive_.size(); }
  std::size_t live() const { return live_; }
  std::size_t bytes() const;

  // Mean length of the live texts, repeated terms counted; 0 when there are none.
  double mean_length() const;

  bool is_live(std::size_t slot) const { return alive_[slot] != 0; }
  std::uint32_t length(std::size_t slot) const { return lengths_[slot]; }
  // Distinct terms of a slot, as indices.
  Span<const std::uint32_t> terms_of(std::size_t slot) const;

  // The index of a term, or IndexMap::kAbsent.
  std::uint32_t find(std::uint64_t term_id) const { return terms_.find(term_id); }
  // All postings of a term, those of tombstones too, and the number of live texts among them.
  Span<const Posting> postings(std::uint32_t term) const;
  std::size_t live_texts(std::uint32_t term) const { return lists_[term].live; }

  void check_slots(Span<const std::int64_t> slots) const;

 private:
  struct TermList {
    std::uint64_t id;
    std::vector<Posting> postings;
    std::size_t live = 0;
  };

  void append_text(Span<const std::uint64_t> term_ids, std::vector<std::uint64_t>& sorted);
  void append_posting(std::uint64_t term_id, Posting posting);
  void truncate(std::size_t size);
  std::size_t forward_begin(std::size_t slot) const;

  IndexMap terms_;
  std::vector<TermList> lists_;
  std::vector<std::uint32_t> forward_;
  std::vector<std::uint64_t> forward_ends_;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint8_t> alive_;  // grows last: its size is the number of texts
  std::size_t live_ = 0;
  std::uint64_t live_length_ = 0;
  std::size_t posting_capacity_ = 0;
};

}  // namespace ebb
