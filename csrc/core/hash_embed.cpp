#include "core/hash_embed.h"

#include <algorithm>
#include <cmath>

#include "core/tally.h"

namespace ebb {

namespace {

// use(tally) for every text, in order, with the counts of its words.
template <typename Use>
void for_tallies(const WordBatch& batch, std::size_t dim, Sign sign, Use use) {
  const Span<const std::int64_t> ends = batch.text_ends;
  const std::size_t words = ends.empty() ? 0 : static_cast<std::size_t>(ends[ends.size - 1]);
  std::uint32_t buckets[kHashChunk];
  std::int8_t signs[kHashChunk];
  Tally tally;
  std::size_t text = 0;
  const auto finish = [&] {
    use(tally.counts());
    tally.clear();
    ++text;
  };
  // Chunks run across texts: most texts are far shorter than a chunk.
  for (std::size_t first = 0; first < words; first += kHashChunk) {
    const std::size_t count = std::min(kHashChunk, words - first);
    bucket_words(batch, first, count, dim, sign, buckets, signs);
    for (std::size_t i = 0; i < count; ++i) {
      while (static_cast<std::size_t>(ends[text]) <= first + i) finish();
      tally.add(buckets[i], signs[i]);
    }
  }
  while (text < ends.size) finish();
}

void write_row(Span<const BucketCount> counts, std::size_t dim, float* out) {
  std::int64_t squares = 0;
  for (const BucketCount& c : counts) squares += std::int64_t{c.count} * c.count;
  const double norm = std::sqrt(static_cast<double>(squares));
  std::fill_n(out, dim, 0.0F);
  for (const BucketCount& c : counts) {
    if (c.count != 0) out[c.bucket] = static_cast<float>(c.count / norm);
  }
}

}  // namespace

void embed_words(const WordBatch& batch, std::size_t dim, Sign sign, float* out) {
  for_tallies(batch, dim, sign, [&](Span<const BucketCount> counts) {
    write_row(counts, dim, out);
    out += dim;
  });
}

SparseCounts count_words(const WordBatch& batch, std::size_t dim, Sign sign) {
  SparseCounts found;
  found.text_ends.reserve(batch.text_ends.size);
  for_tallies(batch, dim, sign, [&](Span<const BucketCount> counts) {
    for (const BucketCount& c : counts) {
      if (c.count == 0) continue;
      found.buckets.push_back(c.bucket);
      found.counts.push_back(c.count);
    }
    found.text_ends.push_back(static_cast<std::int64_t>(found.buckets.size()));
  });
  return found;
}

}  // namespace ebb
