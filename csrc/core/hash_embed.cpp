#include "core/hash_embed.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ebb {

namespace {

// Collects the words of one text after another.
class Row {
 public:
  explicit Row(std::size_t dim) : counts_(dim, 0) {}

  void add(std::uint32_t bucket, std::int32_t sign) {
    // (c + s)^2 - c^2 for s = +1 or -1.
    squares_ += 2 * std::int64_t{counts_[bucket]} * sign + 1;
    counts_[bucket] += sign;
    touched_.push_back(bucket);
  }

  // Write the row and start the next one.
  void finish(float* out) {
    std::fill_n(out, counts_.size(), 0.0F);
    const double norm = std::sqrt(static_cast<double>(squares_));
    for (const std::uint32_t bucket : touched_) {
      // A bucket that was touched twice is found empty the second time.
      if (counts_[bucket] != 0) out[bucket] = static_cast<float>(counts_[bucket] / norm);
      counts_[bucket] = 0;
    }
    touched_.clear();
    squares_ = 0;
  }

 private:
  std::vector<std::int32_t> counts_;
  std::vector<std::uint32_t> touched_;
  std::int64_t squares_ = 0;
};

}  // namespace

void embed_words(const WordBatch& batch, std::size_t dim, Sign sign, float* out) {
  const Span<const std::int64_t> ends = batch.text_ends;
  const std::size_t words = ends.empty() ? 0 : static_cast<std::size_t>(ends[ends.size - 1]);
  std::uint32_t buckets[kHashChunk];
  std::int8_t signs[kHashChunk];
  Row row(dim);
  std::size_t text = 0;
  // Chunks run across texts: most texts are far shorter than a chunk.
  for (std::size_t first = 0; first < words; first += kHashChunk) {
    const std::size_t count = std::min(kHashChunk, words - first);
    bucket_words(batch, first, count, dim, sign, buckets, signs);
    for (std::size_t i = 0; i < count; ++i) {
      while (static_cast<std::size_t>(ends[text]) <= first + i) row.finish(out + dim * text++);
      row.add(buckets[i], signs[i]);
    }
  }
  while (text < ends.size) row.finish(out + dim * text++);
}

}  // namespace ebb
