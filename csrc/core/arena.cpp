#include "core/arena.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/errors.h"
#include "core/kernel_table.h"

namespace ebb {

namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

std::size_t checked_dim(std::size_t dim) {
  if (dim >= 1 && dim <= kMaxDim) return dim;
  throw ValueError("dim", "1 to " + std::to_string(kMaxDim), std::to_string(dim));
}

std::size_t padded(std::size_t dim) { return (dim + kLanes - 1) / kLanes * kLanes; }

// The largest power of two of rows that fits a chunk, and at least one row.
std::size_t chunk_bits(std::size_t padded_dim) {
  std::size_t bits = 0;
  while ((padded_dim * sizeof(float) << (bits + 1)) <= kChunkBytes) ++bits;
  return bits;
}

// Make room for `extra` more, doubling so that repeated appends stay linear.
template <typename T>
void make_room(std::vector<T>& values, std::size_t extra) {
  const std::size_t needed = values.size() + extra;
  if (needed > values.capacity()) values.reserve(std::max(needed, 2 * values.capacity()));
}

}  // namespace

void check_slots(Span<const std::int64_t> slots, std::size_t size, const std::string& argument) {
  for (const std::int64_t slot : slots) {
    if (slot >= 0 && static_cast<std::size_t>(slot) < size) continue;
    throw ValueError(argument, "slots from 0 to below " + std::to_string(size),
                     std::to_string(slot));
  }
}

Arena::Arena(std::size_t dim)
    : dim_(checked_dim(dim)), padded_dim_(padded(dim)), chunk_bits_(chunk_bits(padded_dim_)) {}

std::size_t Arena::size() const { return read().size(); }

std::size_t Arena::live() const { return read().live(); }

std::int64_t Arena::generation() const { return read().generation(); }

std::size_t Arena::bytes() const {
  const View view = read();
  return chunks_.size() * rows_per_chunk() * padded_dim_ * sizeof(float) + alive_.capacity();
}

Arena::View Arena::read() const { return View(*this); }

std::size_t Arena::append(const float* rows, std::size_t count) {
  const std::lock_guard<std::mutex> writer(writer_);
  const std::size_t first = alive_.size();
  if (count > kMaxRows - first) {
    throw ValueError("rows", "at most " + std::to_string(kMaxRows) + " rows in an arena",
                     std::to_string(count) + " more than " + std::to_string(first));
  }
  std::vector<Chunk> fresh;
  fresh.reserve(chunks_for(first + count) - chunks_.size());
  while (chunks_.size() + fresh.size() < chunks_for(first + count)) {
    fresh.emplace_back(rows_per_chunk() * padded_dim_);
  }
  // Nobody reads beyond the last slot handed out, so the rows are copied while readers go on.
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t chunk = (first + i) >> chunk_bits_;
    Chunk& target = chunk < chunks_.size() ? chunks_[chunk] : fresh[chunk - chunks_.size()];
    const std::size_t offset = ((first + i) & (rows_per_chunk() - 1)) * padded_dim_;
    std::copy_n(rows + i * dim_, dim_, target.data() + offset);
  }
  const std::unique_lock<FairLock> visible(lock_);
  make_room(chunks_, fresh.size());
  make_room(alive_, count);
  for (Chunk& chunk : fresh) chunks_.push_back(std::move(chunk));
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
  std::copy_n(row, dim_, row_at(index));
}

std::size_t Arena::tombstone(Span<const std::int64_t> slots) {
  const std::lock_guard<std::mutex> writer(writer_);
  check_slots(slots, alive_.size(), "slots");
  const std::unique_lock<FairLock> visible(lock_);
  std::size_t killed = 0;
  for (const std::int64_t slot : slots) {
    const auto index = static_cast<std::size_t>(slot);
    if (alive_[index] == 0) continue;
    alive_[index] = 0;
    std::fill_n(row_at(index), dim_, 0.0f);
    ++killed;
  }
  live_ -= killed;
  return killed;
}

std::vector<std::int64_t> Arena::compact() {
  const std::lock_guard<std::mutex> writer(writer_);
  std::vector<std::int64_t> moved(alive_.size(), -1);
  std::vector<Chunk> chunks;
  chunks.reserve(chunks_for(live_));
  while (chunks.size() < chunks_for(live_)) chunks.emplace_back(rows_per_chunk() * padded_dim_);
  std::size_t next = 0;
  for (std::size_t slot = 0; slot < alive_.size(); ++slot) {
    if (alive_[slot] == 0) continue;
    const std::size_t offset = (next & (rows_per_chunk() - 1)) * padded_dim_;
    std::copy_n(row_at(slot), dim_, chunks[next >> chunk_bits_].data() + offset);
    moved[slot] = static_cast<std::int64_t>(next++);
  }
  std::vector<std::uint8_t> alive(next, 1);
  const std::unique_lock<FairLock> visible(lock_);
  chunks_.swap(chunks);
  alive_.swap(alive);
  ++generation_;
  return moved;
}

void Arena::copy_rows(Span<const std::int64_t> slots, float* out) const {
  const View view = read();
  check_slots(slots, view.size(), "slots");
  for (std::size_t i = 0; i < slots.size; ++i) {
    std::copy_n(view.row(static_cast<std::size_t>(slots[i])), dim_, out + i * dim_);
  }
}

std::size_t Arena::chunks_for(std::size_t rows) const {
  return (rows + rows_per_chunk() - 1) >> chunk_bits_;
}

float* Arena::row_at(std::size_t slot) {
  return chunks_[slot >> chunk_bits_].data() + (slot & (rows_per_chunk() - 1)) * padded_dim_;
}

const float* Arena::row_at(std::size_t slot) const {
  return chunks_[slot >> chunk_bits_].data() + (slot & (rows_per_chunk() - 1)) * padded_dim_;
}

}  // namespace ebb
