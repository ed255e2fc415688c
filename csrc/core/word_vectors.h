// Word-hash vectors by slot, as signed counts of the buckets that are not empty: their postings
// (sparse_rows.h) and the squared norm of each, both integers. No vector is kept dense.
//
// The cosine of two of them is, in double, dot / sqrt(n * m), with the dot and the squared norms n
// and m exact integers: equal counts give equal cosines, so ties are ties. It is clamped to 1 in
// size (the root may round down) and 0 where one of the two is empty.
//
// One writer, many readers; locks and Views as in arena.h. Every change is all or nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "core/fair_lock.h"
#include "core/span.h"
#include "core/sparse_rows.h"

namespace ebb {

// Text t has the buckets up to ends[t], each once, in any order; a count of 0 is as good as none.
struct WordCounts {
  Span<const std::uint32_t> buckets;
  Span<const std::int32_t> counts;
  Span<const std::int64_t> ends;
};

class WordVectors {
 public:
  class View;

  // Squared norms stay below it, so that double holds them and every dot exactly.
  static constexpr std::uint64_t kMostSquares = std::uint64_t{1} << 53;

  // Throws ValueError unless 1 <= dim <= 2^24.
  explicit WordVectors(std::size_t dim);

  std::size_t dim() const { return dim_; }
  std::size_t size() const;  // slots handed out, the dead included
  std::size_t live() const;
  std::int64_t generation() const;  // times compacted: slots of an older one mean nothing
  std::size_t bytes() const;

  // New slots; the first of them is returned. Throws ShapeError or ValueError.
  std::size_t append(const WordCounts& texts);

  // Replaces a live row by the one text given. Throws ShapeError or ValueError.
  void overwrite(std::int64_t slot, const WordCounts& text);

  // Slots already dead stay so. Returns how many were live. Throws ValueError.
  std::size_t tombstone(Span<const std::int64_t> slots);

  // Closes the gaps, in order. Returns the new slot of each old one, or -1. Readers go on while
  // the new rows are built beside the old ones.
  std::vector<std::int64_t> compact();

  View read() const;

 private:
  const std::size_t dim_;
  std::mutex writer_;      // one writer at a time; taken before lock_
  mutable FairLock lock_;  // shared by readers; exclusive while a change becomes visible
  SparseRows rows_;
  std::int64_t generation_ = 0;
};

// The vectors of one moment; writers wait until it is gone.
class WordVectors::View {
 public:
  const SparseRows& rows() const { return vectors_.rows_; }

 private:
  friend class WordVectors;
  explicit View(const WordVectors& vectors) : vectors_(vectors), lock_(vectors.lock_) {}

  const WordVectors& vectors_;
  std::shared_lock<FairLock> lock_;
};

// The squared norm of each text. Throws ShapeError or ValueError unless every text has each of its
// buckets once, below dim, and squared norms stay below kMostSquares.
std::vector<std::uint64_t> checked_squares(const WordCounts& texts, std::size_t dim);

}  // namespace ebb
