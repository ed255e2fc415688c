#include "core/arena.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/errors.h"
#include "core/room.h"

namespace ebb {

namespace {

std::size_t checked_dim(std::size_t dim) {
  if (dim >= 1 && dim <= kMaxDim) return dim;
  throw ValueError("dim", "1 to " + std::to_string(kMaxDim), std::to_string(dim));
}

}  // namespace

void check_slots(Span<const std::int64_t> slots, std::size_t size, const std::string& argument) {
  for (const std::int64_t slot : slots) {
    if (slot >= 0 && static_cast<std::size_t>(slot) < size) continue;
    throw ValueError(argument, "slots from 0 to below " + std::to_string(size),
                     std::to_string(slot));
  }
}

Arena::Arena(std::size_t dim) : rows_(checked_dim(dim)) {}

std::size_t Arena::size() const { return read().size(); }

std::size_t Arena::live() const { return read().live(); }

std::int64_t Arena::generation() const { return read().generation(); }

std::size_t Arena::bytes() const {
  const View view = read();
  return rows_.bytes() + alive_.capacity();
}

Arena::View Arena::read() const { return View(*this); }

std::size_t Arena::append(const float* rows, std::size_t count) {
  const std::lock_guard<std::mutex> writer(writer_);
  const std::size_t first = alive_.size();
  if (count > kMaxRows - first) {
    throw ValueError("rows", "at most " + std::to_string(kMaxRows) + " rows in an arena",
                     std::to_string(count) + " more than " + std::to_string(first));
  }
  RowChunks::Growth room = rows_.grow_to(first + count);
  // Nobody reads beyond the last slot handed out, so the rows are written while readers go on.
  for (std::size_t i = 0; i < count; ++i) rows_.write(first + i, rows + i * dim(), room);
  const std::unique_lock<FairLock> visible(lock_);
  make_room(alive_, first + count);
  rows_.adopt(std::move(room));
  alive_.resize(first + count, 1);
  live_ += count;
  return first;
}

void Arena::overwrite(std::int64_t slot, const float* row) {
  const std::lock_guard<std::mutex> writer(writer_);
  check_slots({&slot, 1}, alive_.size(), "slot");
  const auto index = static_cast<std::size_t>(slot);
  if (alive_[index] == 0)
    throw ValueError("slot", "a live row", "the dead row " + std::to_string(slot));
  const std::unique_lock<FairLock> visible(lock_);
  rows_.write(index, row);
}

std::size_t Arena::tombstone(Span<const std::int64_t> slots) {
  const std::lock_guard<std::mutex> writer(writer_);
  check_slots(slots, alive_.size(), "slots");
  const std::vector<float> zeros(dim(), 0.0f);
  const std::unique_lock<FairLock> visible(lock_);
  std::size_t killed = 0;
  for (const std::int64_t slot : slots) {
    const auto index = static_cast<std::size_t>(slot);
    if (alive_[index] == 0) continue;
    alive_[index] = 0;
    rows_.write(index, zeros.data());
    ++killed;
  }
  live_ -= killed;
  return killed;
}

std::vector<std::int64_t> Arena::compact() {
  const std::lock_guard<std::mutex> writer(writer_);
  std::vector<std::int64_t> moved(alive_.size(), -1);
  RowChunks rows(dim());
  rows.adopt(rows.grow_to(live_));
  std::size_t next = 0;
  for (std::size_t slot = 0; slot < alive_.size(); ++slot) {
    if (alive_[slot] == 0) continue;
    rows.copy(next, rows_, slot);
    moved[slot] = static_cast<std::int64_t>(next++);
  }
  std::vector<std::uint8_t> alive(next, 1);
  const std::unique_lock<FairLock> visible(lock_);
  rows_.swap(rows);
  alive_.swap(alive);
  ++generation_;
  return moved;
}

void Arena::copy_rows(Span<const std::int64_t> slots, float* out) const {
  const View view = read();
  check_slots(slots, view.size(), "slots");
  for (std::size_t i = 0; i < slots.size; ++i) {
    std::copy_n(view.row(static_cast<std::size_t>(slots[i])), dim(), out + i * dim());
  }
}

}  // namespace ebb
