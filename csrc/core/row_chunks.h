// Rows of float32 by number, and their codes, in chunks of a fixed number of rows. A chunk never
// moves. Within one, rows lie back to back, and so do codes, and each part of the codes' bounds.
//
// Memory comes in slabs of several chunks, each half as large as all before it unless more is
// needed at once: a small store stays small, and in a large one rows and codes lie on huge pages.
//
// A row is padded with zeros to whole lanes. Not synchronised: the arena says who may call what
// when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/buffer.h"
#include "core/codes.h"

namespace ebb {

class RowChunks {
 public:
  // Room for more rows, prepared beside the store, which is unchanged until it adopts it.
  struct Growth;

  // The bounds of one chunk's codes, one value per row.
  struct Bounds {
    const float* scale;
    const float* error;
    const float* norm;
  };

  explicit RowChunks(std::size_t dim);

  std::size_t dim() const { return dim_; }
  std::size_t padded_dim() const { return padded_dim_; }

  // Codes per row; 0 when rows are too long for codes: then nothing of codes may be asked for.
  std::size_t code_dim() const { return code_dim_; }

  // A power of two: rows first..first+n of one such multiple lie back to back.
  std::size_t rows_per_chunk() const { return std::size_t{1} << chunk_bits_; }

  // Memory reserved.
  std::size_t bytes() const;

  const float* row(std::size_t number) const {
    return chunks_[number >> chunk_bits_].rows + place(number) * padded_dim_;
  }
  const std::int8_t* codes(std::size_t number) const {
    return chunks_[number >> chunk_bits_].codes + place(number) * code_dim_;
  }
  CodeBound bound(std::size_t number) const {
    const float* const parts = chunks_[number >> chunk_bits_].bounds + place(number);
    return {parts[0], parts[rows_per_chunk()], parts[2 * rows_per_chunk()]};
  }

  // Of the row and those that follow it in its chunk.
  Bounds bounds(std::size_t number) const {
    const float* const parts = chunks_[number >> chunk_bits_].bounds + place(number);
    return {parts, parts + rows_per_chunk(), parts + 2 * rows_per_chunk()};
  }

  // What this store lacks for `rows` rows. Throws std::bad_alloc.
  Growth grow_to(std::size_t rows) const;

  // Write a row of dim floats and its codes; `room` is what grow_to gave and adopt will take.
  void write(std::size_t number, const float* values, const Growth& room);
  void write(std::size_t number, const float* values);

  // Write a row of another store of this dimension.
  void copy(std::size_t number, const RowChunks& from, std::size_t its_number);

  // Throws std::bad_alloc, changing nothing.
  void adopt(Growth&& room);

  // Exchange the rows with those of another store of this dimension.
  void swap(RowChunks& other) noexcept;

 private:
  struct Chunk {
    float* rows;
    std::int8_t* codes;
    float* bounds;
  };

  struct Slab {
    Buffer<float> rows;
    Buffer<std::int8_t> codes;
    Buffer<float> bounds;
  };

  std::size_t place(std::size_t number) const { return number & (rows_per_chunk() - 1); }
  std::size_t chunk_bytes() const;
  void add_slab(Growth& room, std::size_t chunks) const;
  void write(const Chunk& chunk, std::size_t place, const float* values);
  void set_bound(const Chunk& chunk, std::size_t place, const CodeBound& bound);

  const std::size_t dim_;
  const std::size_t padded_dim_;
  const std::size_t code_dim_;
  const std::size_t chunk_bits_;
  std::vector<Slab> slabs_;
  std::vector<Chunk> chunks_;
};

struct RowChunks::Growth {
  std::vector<Slab> slabs;
  std::vector<Chunk> chunks;
};

}  // namespace ebb
