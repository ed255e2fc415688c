// How strongly each slot is remembered as time goes by: one falling line per slot,
//
//   log weight at now = ln(importance) - rate * pace * max(now - since, 0) / unit
//
// in double, every step rounded once: the same bits as the column `log_weights` gives for a pace
// of 1. The rate is named when asking; a slot's pace says how much faster or slower it fades than
// that. Lines are kept, never columns of weights: what has to be read is found by bounds
// (core/fading_lines.h), without a pass over all slots.
//
// Two things help to find it: summaries of ranges of slots, and, from kOrderedSlots slots on, an
// order by weight (core/fading_order.h). Where memory for the order runs out it is given up, and
// built again at a later change: nothing but speed depends on it.
//
// Slots are those of the arena or postings beside it: whoever changes one changes the other, in
// the same order. One writer, many readers; the locks are taken as the arena says, and a thread
// that reads both takes the other structure's view first and this one's last. Every change is all
// or nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "core/fading_lines.h"
#include "core/fading_order.h"
#include "core/fair_lock.h"
#include "core/span.h"

namespace ebb {

// Values of new or changed slots, all of one length, which the caller checks.
struct FadingRows {
  Span<const double> importance;           // 0: a weight of 0, whatever the moment
  Span<const std::int64_t> since_us;       // where fading starts; later than now: has not started
  std::optional<Span<const double>> pace;  // absent: 1 for each
};

class Fading {
 public:
  class View;

  static constexpr std::int64_t kMaxTimeUs = FadingLine::kMaxTimeUs;

  // Slots first, first + kRangeSlots, ... share one summary.
  static constexpr std::size_t kRangeSlots = 256;

  // Fewer are looked through range by range as fast.
  static constexpr std::size_t kOrderedSlots = 64;

  // Throws ValueError unless unit_us, the microseconds in the unit of time of rates, is at least 1.
  explicit Fading(std::int64_t unit_us);

  // Slots handed out, the dead included.
  std::size_t size() const;
  std::size_t live() const;

  // Grows by one with every `compact`: slots of an older generation mean nothing.
  std::int64_t generation() const;

  // Memory reserved.
  std::size_t bytes() const;

  // New slots; the first of them is returned. Throws ValueError unless importances and paces are
  // finite and at least 0 and times within +-kMaxTimeUs, and when there would be more than 2^31 - 1
  // slots.
  std::size_t append(const FadingRows& rows);

  // Give live slots new lines: slots[i] gets row i; of a slot named twice the last row counts.
  // Throws ValueError as `append` does, and for slots dead or never handed out.
  void overwrite(Span<const std::int64_t> slots, const FadingRows& rows);

  // Kill slots: their weight is 0 and they count in no bound. Slots already dead stay so. Returns
  // how many were live. Throws ValueError for a slot that was never handed out.
  std::size_t tombstone(Span<const std::int64_t> slots);

  // Close the gaps, keeping the order: slot s becomes the s-th value returned, -1 if it was dead.
  std::vector<std::int64_t> compact();

  // The log weights of some slots, and a bound of those of consecutive ones (see View). Throw
  // ValueError for slots never handed out and what `check_moment` refuses.
  std::vector<double> log_weights(Span<const std::int64_t> slots, const Moment& moment) const;
  double bound(std::size_t first, std::size_t count, const Moment& moment) const;

  View read() const;

 private:
  bool alive(std::size_t slot) const { return lines_.lines[slot].alive(); }
  static std::size_t ranges_of(std::size_t slots) {
    return (slots + kRangeSlots - 1) / kRangeSlots;
  }
  void check_slots(Span<const std::int64_t> slots) const;
  void check_live(Span<const std::int64_t> slots) const;
  void summarise(std::size_t slot);
  void summarise_ranges_of(Span<const std::int64_t> slots);

  void insert_in_order(std::size_t slot) noexcept;
  void erase_from_order(std::size_t slot) noexcept;
  void build_order() noexcept;

  const double unit_us_;

  std::mutex writer_;      // one writer at a time; taken before lock_
  mutable FairLock lock_;  // shared by readers; exclusive while a change becomes visible
  FadingLines lines_;
  std::vector<FadingBound> summaries_;
  FadingOrder order_;  // empty: there is none
  std::size_t live_ = 0;
  std::int64_t generation_ = 0;
};

// The lines as they are now; writers wait until it is gone.
class Fading::View {
 public:
  std::size_t size() const { return fading_.lines_.size(); }
  std::size_t live() const { return fading_.live_; }
  std::int64_t generation() const { return fading_.generation_; }
  bool alive(std::size_t slot) const { return fading_.alive(slot); }
  const FadingLines& lines() const { return fading_.lines_; }

  // The live slots in order, or nothing where there is no order.
  const FadingOrder& order() const { return fading_.order_; }

  // `moment` has been checked, here and below.
  FadingMoment at(const Moment& moment) const { return FadingMoment(moment, fading_.unit_us_); }

  // Minus infinity for a dead slot.
  double log_weight(std::size_t slot, const Moment& moment) const {
    return at(moment).weight(fading_.lines_, slot);
  }

  // At least the log weight of each of `count` slots from `first` on, all of them handed out;
  // minus infinity when none is alive. Reads one summary for each kRangeSlots slots.
  double bound(std::size_t first, std::size_t count, const Moment& moment) const {
    double highest = -std::numeric_limits<double>::infinity();
    for (std::size_t range = first / kRangeSlots; range * kRangeSlots < first + count; ++range) {
      highest = std::max(highest, at(moment).weight(fading_.summaries_[range]));
    }
    return highest;
  }

 private:
  friend class Fading;
  explicit View(const Fading& fading) : fading_(fading), lock_(fading.lock_) {}

  const Fading& fading_;
  std::shared_lock<FairLock> lock_;
};

// Throws ValueError unless the rate is finite and at least 0 and the time within +-kMaxTimeUs.
void check_moment(const Moment& moment);

}  // namespace ebb
