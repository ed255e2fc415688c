#include "core/row_chunks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/kernel_table.h"
#include "core/room.h"

namespace ebb {

namespace {

// The rows that a scan looks at together: a chunk has no more, so that small stores stay small.
constexpr std::size_t kMaxChunkBits = 8;
constexpr std::size_t kMaxChunkBytes = std::size_t{1} << 20;

// Rows of a large store lie on huge pages at a quarter of this; its codes at all of it.
constexpr std::size_t kMaxSlabBytes = std::size_t{1} << 24;

constexpr std::size_t kBoundParts = 3;

std::size_t padded(std::size_t dim) { return (dim + kLanes - 1) / kLanes * kLanes; }

// The largest power of two of rows that fits a chunk, and at least one row.
std::size_t chunk_bits(std::size_t padded_dim) {
  std::size_t bits = 0;
  while (bits < kMaxChunkBits && (padded_dim * sizeof(float) << (bits + 1)) <= kMaxChunkBytes) {
    ++bits;
  }
  return bits;
}

template <typename T>
void take_over(std::vector<T>& values, std::vector<T>& more) {
  std::move(more.begin(), more.end(), std::back_inserter(values));
}

}  // namespace

RowChunks::RowChunks(std::size_t dim)
    : dim_(dim),
      padded_dim_(padded(dim)),
      code_dim_(code_dim_of(dim)),
      chunk_bits_(chunk_bits(padded_dim_)) {}

std::size_t RowChunks::chunk_bytes() const {
  const std::size_t coded = code_dim_ == 0 ? 0 : code_dim_ + kBoundParts * sizeof(float);
  return (padded_dim_ * sizeof(float) + coded) << chunk_bits_;
}

std::size_t RowChunks::bytes() const { return chunks_.size() * chunk_bytes(); }

RowChunks::Growth RowChunks::grow_to(std::size_t rows) const {
  const std::size_t needed = (rows + rows_per_chunk() - 1) >> chunk_bits_;
  const std::size_t row_bytes = padded_dim_ * sizeof(float) << chunk_bits_;
  const std::size_t most = std::max(kMaxSlabBytes / row_bytes, std::size_t{1});
  Growth room;
  for (std::size_t have = chunks_.size(); have < needed; have = chunks_.size() + room.chunks.size())
    add_slab(room, std::min(std::max(have / 2, needed - have), most));
  return room;
}

void RowChunks::add_slab(Growth& room, std::size_t chunks) const {
  const std::size_t rows = chunks << chunk_bits_;
  const std::size_t coded = code_dim_ == 0 ? 0 : rows;
  Slab slab = {Buffer<float>(rows * padded_dim_), Buffer<std::int8_t>(coded * code_dim_),
               Buffer<float>(coded * kBoundParts)};
  for (std::size_t first = 0; first < rows; first += rows_per_chunk()) {
    room.chunks.push_back({slab.rows.data() + first * padded_dim_,
                           slab.codes.data() + first * code_dim_,
                           slab.bounds.data() + coded / rows * first * kBoundParts});
  }
  room.slabs.push_back(std::move(slab));
}

void RowChunks::write(std::size_t number, const float* values, const Growth& room) {
  const std::size_t chunk = number >> chunk_bits_;
  write(chunk < chunks_.size() ? chunks_[chunk] : room.chunks[chunk - chunks_.size()],
        place(number), values);
}

void RowChunks::write(std::size_t number, const float* values) {
  write(chunks_[number >> chunk_bits_], place(number), values);
}

void RowChunks::write(const Chunk& chunk, std::size_t place, const float* values) {
  float* const row = chunk.rows + place * padded_dim_;
  std::copy_n(values, dim_, row);
  if (code_dim_ == 0) return;
  set_bound(chunk, place, encode(row, padded_dim_, kMaxLevels, chunk.codes + place * code_dim_));
}

void RowChunks::set_bound(const Chunk& chunk, std::size_t place, const CodeBound& bound) {
  chunk.bounds[place] = bound.scale;
  chunk.bounds[place + rows_per_chunk()] = bound.error;
  chunk.bounds[place + 2 * rows_per_chunk()] = bound.norm;
}

void RowChunks::copy(std::size_t number, const RowChunks& from, std::size_t its_number) {
  const Chunk& chunk = chunks_[number >> chunk_bits_];
  const std::size_t at = place(number);
  std::copy_n(from.row(its_number), padded_dim_, chunk.rows + at * padded_dim_);
  if (code_dim_ == 0) return;
  std::copy_n(from.codes(its_number), code_dim_, chunk.codes + at * code_dim_);
  set_bound(chunk, at, from.bound(its_number));
}

void RowChunks::adopt(Growth&& room) {
  make_room(slabs_, slabs_.size() + room.slabs.size());
  make_room(chunks_, chunks_.size() + room.chunks.size());
  take_over(slabs_, room.slabs);
  take_over(chunks_, room.chunks);
}

void RowChunks::swap(RowChunks& other) noexcept {
  slabs_.swap(other.slabs_);
  chunks_.swap(other.chunks_);
}

}  // namespace ebb
