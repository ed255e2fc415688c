// An inverted index for one scope, shared by threads: any number of readers or one writer.
//
// The lock is inside and is to be taken after the interpreter's own is released. Slots are those
// of the scope's other structures: every text takes one, also a text without a term. A call sees
// one state of the index from its first look to its last; nothing is kept between calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/bm25.h"
#include "core/bounded_scores.h"
#include "core/fair_lock.h"
#include "core/inverted_index.h"
#include "core/precedence.h"
#include "core/span.h"
#include "core/term_ties.h"

namespace ebb {

// What a ranking is asked with. `newness` and `mask` hold one value per slot below the limit.
struct Bm25Query {
  Bm25 rule;
  Span<const std::int64_t> newness;  // data == nullptr: none
  RowMask mask;
  std::int64_t limit = -1;  // slots from here on are not looked at; -1: as many as there are
  std::int64_t k = 1;
  Near near;
};

// One value per match; slots come once each.
struct Matches {
  Span<const std::int64_t> slots;
  Span<const double> scores;
  Span<const std::int64_t> newness;
};

// Which matches stand at the best places, and the scores of the places.
struct PlacedMatches {
  std::vector<std::int64_t> matches;
  std::vector<double> scores;
};

class Postings {
 public:
  // Throws ValueError, then nothing was appended. Returns the first new slot.
  std::size_t append(Span<const std::uint64_t> term_ids, Span<const std::int64_t> text_ends);
  // Idempotent; returns how many were live. Throws ValueError, then nothing was changed.
  std::size_t tombstone(Span<const std::int64_t> slots);
  // Gives the live texts new slots, in order. Returns the new slot of each old one, or -1.
  // Readers go on while the new index is built beside the old one.
  std::vector<std::int64_t> compact();

  std::size_t size() const;
  std::size_t live() const;
  std::size_t bytes() const;

  std::vector<std::int64_t> document_frequency(Span<const std::uint64_t> terms) const;
  std::vector<double> idf(Span<const std::uint64_t> terms) const;

  // The at most k best slots for a cue of all these terms with a score above 0, best first, as far
  // as they are near. Statistics are those of all live texts, whatever limit and mask. Throws
  // ShapeError or ValueError.
  RankedTexts top(Span<const std::uint64_t> cue, const Bm25Query& query) const;

  // The score of each slot. Throws ValueError.
  std::vector<double> score(Span<const std::uint64_t> terms, const Bm25& rule,
                            Span<const std::int64_t> slots) const;

  // The k best of those with a score above 0 as precedence.h places them. Throws ShapeError or
  // ValueError.
  PlacedMatches preceding(Span<const std::uint64_t> cue, const Matches& matches, std::size_t k,
                          const Precedence& rule) const;
  // See term_ties.h and bounded_scores.h. A mask holds one value per slot. Throw ShapeError or
  // ValueError.
  Ties tied(const TieSeed& seed, Span<const std::uint64_t> said, RowMask mask,
            const TieRule& rule) const;
  BoundedRanking top_bounded(const BoundedQuestion& question, const RetainedColumns& columns,
                             const BoundedRule& rule) const;

 private:
  std::mutex writer_;      // one writer at a time; taken before lock_
  mutable FairLock lock_;  // shared by readers; exclusive while a change becomes visible
  InvertedIndex index_;
};

}  // namespace ebb
