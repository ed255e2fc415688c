#include "core/fading.h"

#include <new>
#include <string>
#include <utility>

#include "core/elementary.h"
#include "core/errors.h"
#include "core/finite.h"
#include "core/room.h"

namespace ebb {

namespace {

constexpr std::size_t kMaxSlots = (std::size_t{1} << 31) - 1;

double checked_unit(std::int64_t unit_us) {
  if (unit_us >= 1) return static_cast<double>(unit_us);
  throw ValueError("unit_us", "at least 1 microsecond", std::to_string(unit_us));
}

bool is_time(std::int64_t us) { return (us >= -Fading::kMaxTimeUs) & (us <= Fading::kMaxTimeUs); }

const std::string kTimes = "microseconds from -2^61 to 2^61";

void check_rows(const FadingRows& rows) {
  check_not_negative(rows.importance, "importance");
  check_values(rows.since_us, is_time, kTimes, "since_us");
  if (rows.pace) check_not_negative(*rows.pace, "pace");
}

bool all_paces_are_one(const FadingRows& rows) {
  return !rows.pace ||
         std::all_of(rows.pace->begin(), rows.pace->end(), [](double pace) { return pace == 1.0; });
}

double pace_of(const FadingRows& rows, std::size_t i) { return rows.pace ? (*rows.pace)[i] : 1.0; }

}  // namespace

void check_moment(const Moment& moment) {
  if (!is_time(moment.now_us)) throw ValueError("now_us", kTimes, std::to_string(moment.now_us));
  if (moment.rate >= 0.0 && is_finite(moment.rate)) return;
  throw ValueError("rate", "a finite number of at least 0", std::to_string(moment.rate));
}

Fading::Fading(std::int64_t unit_us) : unit_us_(checked_unit(unit_us)) {}

Fading::View Fading::read() const { return View(*this); }

std::size_t Fading::size() const { return read().size(); }

std::size_t Fading::live() const { return read().live(); }

std::int64_t Fading::generation() const { return read().generation(); }

std::size_t Fading::bytes() const {
  const View view = read();
  return lines_.lines.capacity() * sizeof(FadingLine) + lines_.paces.capacity() * sizeof(double) +
         summaries_.capacity() * sizeof(FadingBound) + order_.bytes();
}

std::size_t Fading::append(const FadingRows& rows) {
  const std::lock_guard<std::mutex> writer(writer_);
  check_rows(rows);
  const std::size_t first = lines_.size();
  const std::size_t count = rows.importance.size;
  if (count > kMaxSlots - first) {
    throw ValueError("importance", "at most " + std::to_string(kMaxSlots) + " slots in all",
                     std::to_string(count) + " more than " + std::to_string(first));
  }
  const bool paced = !lines_.paces.empty() || !all_paces_are_one(rows);
  std::vector<FadingLine> fresh(count);
  for (std::size_t i = 0; i < count; ++i) fresh[i] = {log(rows.importance[i]), rows.since_us[i]};
  const std::unique_lock<FairLock> visible(lock_);
  make_room(lines_.lines, first + count);
  make_room(summaries_, ranges_of(first + count));
  if (paced) make_room(lines_.paces, first + count);
  // Nothing below needs memory, but for the order.
  lines_.lines.insert(lines_.lines.end(), fresh.begin(), fresh.end());
  if (paced) lines_.paces.resize(first, 1.0);
  for (std::size_t i = 0; paced && i < count; ++i) lines_.paces.push_back(pace_of(rows, i));
  summaries_.resize(ranges_of(first + count));
  for (std::size_t slot = first; slot < first + count; ++slot) summarise(slot);
  live_ += count;
  for (std::size_t slot = first; slot < first + count; ++slot) insert_in_order(slot);
  build_order();
  return first;
}

void Fading::overwrite(Span<const std::int64_t> slots, const FadingRows& rows) {
  const std::lock_guard<std::mutex> writer(writer_);
  check_rows(rows);
  check_live(slots);
  const std::unique_lock<FairLock> visible(lock_);
  if (lines_.paces.empty() && !all_paces_are_one(rows)) lines_.paces.assign(lines_.size(), 1.0);
  for (std::size_t i = 0; i < slots.size; ++i) {
    const auto slot = static_cast<std::size_t>(slots[i]);
    erase_from_order(slot);
    lines_.lines[slot] = {log(rows.importance[i]), rows.since_us[i]};
    if (!lines_.paces.empty()) lines_.paces[slot] = pace_of(rows, i);
    insert_in_order(slot);
  }
  build_order();
  summarise_ranges_of(slots);
}

std::size_t Fading::tombstone(Span<const std::int64_t> slots) {
  const std::lock_guard<std::mutex> writer(writer_);
  check_slots(slots);
  const std::unique_lock<FairLock> visible(lock_);
  std::size_t killed = 0;
  for (const std::int64_t slot : slots) {
    const auto index = static_cast<std::size_t>(slot);
    if (!alive(index)) continue;
    erase_from_order(index);
    lines_.lines[index] = FadingLine{};
    ++killed;
  }
  summarise_ranges_of(slots);
  live_ -= killed;
  return killed;
}

std::vector<std::int64_t> Fading::compact() {
  const std::lock_guard<std::mutex> writer(writer_);
  std::vector<std::int64_t> moved(lines_.size(), -1);
  FadingLines kept;
  std::vector<FadingBound> summaries(ranges_of(live_));
  kept.lines.reserve(live_);
  if (!lines_.paces.empty()) kept.paces.reserve(live_);
  for (std::size_t slot = 0; slot < lines_.size(); ++slot) {
    if (!alive(slot)) continue;
    moved[slot] = static_cast<std::int64_t>(kept.size());
    kept.lines.push_back(lines_.lines[slot]);
    if (!lines_.paces.empty()) kept.paces.push_back(lines_.paces[slot]);
  }
  const std::unique_lock<FairLock> visible(lock_);
  std::swap(lines_, kept);
  summaries_.swap(summaries);
  for (std::size_t slot = 0; slot < lines_.size(); ++slot) summarise(slot);
  order_.clear();
  build_order();
  ++generation_;
  return moved;
}

std::vector<double> Fading::log_weights(Span<const std::int64_t> slots,
                                        const Moment& moment) const {
  check_moment(moment);
  const View view = read();
  check_slots(slots);
  std::vector<double> weights(slots.size);
  for (std::size_t i = 0; i < slots.size; ++i) {
    weights[i] = view.log_weight(static_cast<std::size_t>(slots[i]), moment);
  }
  return weights;
}

double Fading::bound(std::size_t first, std::size_t count, const Moment& moment) const {
  check_moment(moment);
  const View view = read();
  if (first <= view.size() && count <= view.size() - first) return view.bound(first, count, moment);
  throw ValueError("first, count", "slots below " + std::to_string(view.size()),
                   std::to_string(count) + " from " + std::to_string(first));
}

void Fading::check_slots(Span<const std::int64_t> slots) const {
  for (const std::int64_t slot : slots) {
    if (slot >= 0 && static_cast<std::size_t>(slot) < lines_.size()) continue;
    throw ValueError("slots", "slots from 0 to below " + std::to_string(lines_.size()),
                     std::to_string(slot));
  }
}

void Fading::check_live(Span<const std::int64_t> slots) const {
  check_slots(slots);
  for (const std::int64_t slot : slots) {
    if (alive(static_cast<std::size_t>(slot))) continue;
    throw ValueError("slots", "live slots", "the dead slot " + std::to_string(slot));
  }
}

// Widen the summary of a slot's range by its line.
void Fading::summarise(std::size_t slot) {
  if (alive(slot)) summaries_[slot / kRangeSlots].cover(lines_.lines[slot], lines_.pace(slot));
}

// Make the summaries of some slots' ranges anew: each once when its slots stand together.
void Fading::summarise_ranges_of(Span<const std::int64_t> slots) {
  std::size_t last = summaries_.size();
  for (const std::int64_t slot : slots) {
    const std::size_t range = static_cast<std::size_t>(slot) / kRangeSlots;
    if (range == last) continue;
    last = range;
    summaries_[range] = FadingBound{};
    const std::size_t end = std::min((range + 1) * kRangeSlots, lines_.size());
    for (std::size_t s = range * kRangeSlots; s < end; ++s) summarise(s);
  }
}

// Keep the order, if there is one, in step.
void Fading::insert_in_order(std::size_t slot) noexcept {
  if (order_.empty()) return;
  try {
    order_.insert(static_cast<std::int32_t>(slot), lines_);
  } catch (const std::bad_alloc&) {
    order_.clear();
  }
}

void Fading::erase_from_order(std::size_t slot) noexcept {
  if (order_.empty()) return;
  try {
    order_.erase(static_cast<std::int32_t>(slot), lines_);
  } catch (const std::bad_alloc&) {
    order_.clear();
  }
}

// Put all live slots in order where there is none and it would help.
void Fading::build_order() noexcept {
  if (!order_.empty() || lines_.size() < kOrderedSlots) return;
  try {
    for (std::size_t slot = 0; slot < lines_.size(); ++slot) {
      if (alive(slot)) order_.insert(static_cast<std::int32_t>(slot), lines_);
    }
  } catch (const std::bad_alloc&) {
    order_.clear();
  }
}

}  // namespace ebb
