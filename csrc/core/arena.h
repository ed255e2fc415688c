// Rows of float32 by slot, and beside each its codes of 8 bits with their bound, always in step. A
// row is padded with zeros to 16 lanes, and stays where it is until `compact`.
//
// One writer, many readers. The arena has its own locks, and they are taken only after Python's
// interpreter lock has been released, never the other way round: a thread that waits here must not
// keep the interpreter from one that would let it go on. A reader sees the rows of one moment for
// as long as its View lives; writers queue behind each other and do what is long (copying rows)
// before they exclude readers. A thread must not call the arena while it holds a View of it.
//
// Every change is all or nothing: when memory runs out or an argument is refused, the arena is
// as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "core/fair_lock.h"
#include "core/row_chunks.h"
#include "core/span.h"

namespace ebb {

constexpr std::size_t kMaxDim = std::size_t{1} << 24;
constexpr std::size_t kMaxRows = (std::size_t{1} << 31) - 1;

class Arena {
 public:
  class View;

  // Throws ValueError unless 1 <= dim <= kMaxDim.
  explicit Arena(std::size_t dim);

  std::size_t dim() const { return rows_.dim(); }
  std::size_t padded_dim() const { return rows_.padded_dim(); }

  // Codes per row, padding included; 0 when rows of this dimension have none.
  std::size_t code_dim() const { return rows_.code_dim(); }

  // A power of two: rows first..first+n of one such multiple lie back to back, and so do codes.
  std::size_t rows_per_chunk() const { return rows_.rows_per_chunk(); }

  // Slots handed out, the dead included.
  std::size_t size() const;
  std::size_t live() const;

  // Grows by one with every `compact`: slots of an older generation mean nothing.
  std::int64_t generation() const;

  // Memory reserved for rows and slots.
  std::size_t bytes() const;

  // Copy rows (count * dim floats, back to back) to new slots; the first of them is returned.
  // The dimension is the caller's to check, and that the values are finite. Throws ValueError
  // when there would be more than kMaxRows slots.
  std::size_t append(const float* rows, std::size_t count);

  // Replace a live row. Throws ValueError for any other slot.
  void overwrite(std::int64_t slot, const float* row);

  // Kill rows: they are zeroed, keep their slots, and no search returns them. Slots already dead
  // stay so. Returns how many were live. Throws ValueError for a slot that was never handed out.
  std::size_t tombstone(Span<const std::int64_t> slots);

  // Close the gaps, keeping the order: slot s becomes the s-th value returned, -1 if it was dead.
  std::vector<std::int64_t> compact();

  // Copy rows (slots.size * dim floats). A dead row reads as zeros. Throws ValueError for a slot
  // that was never handed out.
  void copy_rows(Span<const std::int64_t> slots, float* out) const;

  View read() const;

 private:
  std::mutex writer_;      // one writer at a time; taken before lock_
  mutable FairLock lock_;  // shared by readers; exclusive while a change becomes visible
  RowChunks rows_;
  std::vector<std::uint8_t> alive_;  // one per slot
  std::size_t live_ = 0;
  std::int64_t generation_ = 0;
};

// The rows of one moment; writers wait until it is gone.
class Arena::View {
 public:
  std::size_t size() const { return arena_.alive_.size(); }
  std::size_t live() const { return arena_.live_; }
  std::int64_t generation() const { return arena_.generation_; }
  bool alive(std::size_t slot) const { return arena_.alive_[slot] != 0; }
  const float* row(std::size_t slot) const { return arena_.rows_.row(slot); }

  // Only while the arena's code_dim is not 0. A dead row has zeros.
  const std::int8_t* codes(std::size_t slot) const { return arena_.rows_.codes(slot); }
  CodeBound bound(std::size_t slot) const { return arena_.rows_.bound(slot); }
  RowChunks::Bounds bounds(std::size_t slot) const { return arena_.rows_.bounds(slot); }

 private:
  friend class Arena;
  explicit View(const Arena& arena) : arena_(arena), lock_(arena.lock_) {}

  const Arena& arena_;
  std::shared_lock<FairLock> lock_;
};

// Throws ValueError unless every slot is in [0, size).
void check_slots(Span<const std::int64_t> slots, std::size_t size, const std::string& argument);

}  // namespace ebb
