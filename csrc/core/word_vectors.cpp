#include "core/word_vectors.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/errors.h"
#include "core/hash_embed.h"
#include "core/ragged.h"

namespace ebb {

namespace {

constexpr std::size_t kMostSlots = (std::size_t{1} << 31) - 1;

std::size_t checked_dim(std::size_t dim) {
  if (dim >= 1 && dim <= kMaxDim) return dim;
  throw ValueError("dim", "1 to " + std::to_string(kMaxDim), std::to_string(dim));
}

// The buckets of a few texts are compared pair by pair, which is faster than sorting them.
bool has_repeats(Span<const std::uint32_t> buckets, std::vector<std::uint32_t>& scratch) {
  constexpr std::size_t kFew = 24;
  if (buckets.size <= kFew) {
    bool repeats = false;
    for (std::size_t i = 1; i < buckets.size; ++i) {
      for (std::size_t j = 0; j < i; ++j) repeats |= buckets[i] == buckets[j];
    }
    return repeats;
  }
  scratch.assign(buckets.begin(), buckets.end());
  std::sort(scratch.begin(), scratch.end());
  return std::adjacent_find(scratch.begin(), scratch.end()) != scratch.end();
}

std::uint64_t squares_of(Span<const std::int32_t> counts) {
  std::uint64_t squares = 0;
  for (const std::int64_t count : counts) {
    squares += static_cast<std::uint64_t>(count * count);
    if (squares >= WordVectors::kMostSquares) {
      throw ValueError("counts", "a squared norm below 2^53", "a larger one");
    }
  }
  return squares;
}

void check_shape(const WordCounts& texts) {
  if (texts.counts.size != texts.buckets.size) {
    throw ShapeError("counts", std::to_string(texts.buckets.size) + " counts, one per bucket",
                     std::to_string(texts.counts.size));
  }
  check_partition(texts.ends, texts.buckets.size, "text_ends");
}

void check_slot(std::int64_t slot, std::size_t size, const char* argument) {
  if (slot >= 0 && static_cast<std::uint64_t>(slot) < size) return;
  throw ValueError(argument, "slots from 0 to below " + std::to_string(size), std::to_string(slot));
}

SparseBatch batch_of(const WordCounts& texts, const std::vector<std::uint64_t>& squares) {
  return {texts.ends, texts.buckets, texts.counts, {squares.data(), squares.size()}};
}

}  // namespace

std::vector<std::uint64_t> checked_squares(const WordCounts& texts, std::size_t dim) {
  check_shape(texts);
  for (const std::uint32_t bucket : texts.buckets) {
    if (bucket >= dim) {
      throw ValueError("buckets", "buckets below " + std::to_string(dim), std::to_string(bucket));
    }
  }
  std::vector<std::uint64_t> squares;
  squares.reserve(texts.ends.size);
  std::vector<std::uint32_t> scratch;
  std::size_t begin = 0;
  for (const std::int64_t text_end : texts.ends) {
    const std::size_t count = static_cast<std::size_t>(text_end) - begin;
    if (has_repeats({texts.buckets.data + begin, count}, scratch)) {
      throw ValueError("buckets", "each bucket of a text once", "a repeated one");
    }
    squares.push_back(squares_of({texts.counts.data + begin, count}));
    begin += count;
  }
  return squares;
}

WordVectors::WordVectors(std::size_t dim) : dim_(checked_dim(dim)) {}

WordVectors::View WordVectors::read() const { return View(*this); }

std::size_t WordVectors::size() const { return read().rows().size(); }

std::size_t WordVectors::live() const { return read().rows().live(); }

std::size_t WordVectors::bytes() const { return read().rows().bytes(); }

std::int64_t WordVectors::generation() const {
  const View view = read();
  return generation_;
}

std::size_t WordVectors::append(const WordCounts& texts) {
  const std::vector<std::uint64_t> squares = checked_squares(texts, dim_);
  const std::lock_guard<std::mutex> turn(writer_);
  const std::size_t first = rows_.size();
  if (texts.ends.size > kMostSlots - first) {
    throw ValueError("text_ends", "at most " + std::to_string(kMostSlots) + " vectors",
                     std::to_string(texts.ends.size) + " more than " + std::to_string(first));
  }
  const std::unique_lock<FairLock> visible(lock_);
  rows_.append(batch_of(texts, squares));
  return first;
}

void WordVectors::overwrite(std::int64_t slot, const WordCounts& text) {
  const std::vector<std::uint64_t> squares = checked_squares(text, dim_);
  if (squares.size() != 1) {
    throw ShapeError("text_ends", "one text", std::to_string(squares.size()));
  }
  const std::lock_guard<std::mutex> turn(writer_);
  check_slot(slot, rows_.size(), "slot");
  const auto index = static_cast<std::size_t>(slot);
  if (!rows_.is_live(index)) {
    throw ValueError("slot", "a live row", "the dead row " + std::to_string(slot));
  }
  const std::unique_lock<FairLock> visible(lock_);
  rows_.overwrite(index, batch_of(text, squares));
}

std::size_t WordVectors::tombstone(Span<const std::int64_t> slots) {
  const std::lock_guard<std::mutex> turn(writer_);
  for (const std::int64_t slot : slots) check_slot(slot, rows_.size(), "slots");
  const std::unique_lock<FairLock> visible(lock_);
  std::size_t killed = 0;
  for (const std::int64_t slot : slots)
    killed += rows_.kill(static_cast<std::size_t>(slot)) ? 1 : 0;
  return killed;
}

std::vector<std::int64_t> WordVectors::compact() {
  std::vector<std::int64_t> old_to_new;
  const std::lock_guard<std::mutex> turn(writer_);
  SparseRows other = rows_.compacted(old_to_new);
  {
    const std::unique_lock<FairLock> visible(lock_);
    std::swap(rows_, other);
    ++generation_;
  }
  return old_to_new;
}

}  // namespace ebb
