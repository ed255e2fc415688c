// Live slots in the order in which a search should look at them: in classes of like importance and
// pace, within a class by time, in blocks with bounds.
//
// A class is a list of blocks, oldest first, each of which holds the slots of a stretch of time in
// no particular order; a full block is split, one nearly empty is joined to its neighbour. So a
// slot that arrives late, or moves because it was recalled, finds its place without anything being
// sorted, and one that arrives in time is appended. Within a class blocks fall in weight from the
// newest to the oldest at every moment, whatever the rate.
//
// Not synchronised. After an exception (std::bad_alloc) the order means nothing until `clear`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/fading_lines.h"

namespace ebb {

class FadingOrder {
 public:
  class Walk;

  static constexpr std::size_t kBlockSlots = 128;

  // Where a slot stands in a class: by time, then by number.
  struct Place {
    std::int64_t since_us;
    std::int32_t slot;
  };

  struct Block {
    Place first;        // no later than any slot here, later than any of the block before
    FadingBound bound;  // wide enough for the slots here
    FadingFloor floor;  // this too
    std::vector<std::int32_t> slots;
  };

  bool empty() const { return classes_.empty(); }
  std::size_t bytes() const;
  void clear() noexcept;

  // Put in a slot that is not here, or take out one that is. `lines` holds the lines of all slots
  // here, that of the slot among them.
  void insert(std::int32_t slot, const FadingLines& lines);
  void erase(std::int32_t slot, const FadingLines& lines);

 private:
  struct Class {
    std::uint32_t code;
    FadingBound bound;  // the time in it means nothing
    std::vector<Block> blocks;
  };

  std::vector<Class>::iterator class_at(std::uint32_t code);

  std::vector<Class> classes_;  // by code, ascending; none is empty
};

// The blocks of an order at a moment: of the next block of each class, the one whose weight is
// bounded highest. Valid while the order does not change.
class FadingOrder::Walk {
 public:
  Walk(const FadingOrder& order, const FadingMoment& moment);

  bool done() const { return heads_.empty(); }

  // At least the weight of every slot not walked over yet. Not when done.
  double bound() const { return heads_.front().bound; }

  const Block& next();

  // How many slots stand in blocks that may hold a weight of at least `least`.
  std::size_t slots_left(double least) const;

 private:
  struct Head {
    double bound;
    const Class* members;
    std::size_t blocks_left;  // the last of these is the next
  };

  static bool comes_later(const Head& a, const Head& b) { return a.bound < b.bound; }
  double bound_of(const Class& members, std::size_t block) const;

  const FadingMoment moment_;
  std::vector<Head> heads_;  // a heap
};

}  // namespace ebb
