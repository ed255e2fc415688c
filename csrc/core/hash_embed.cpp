#include "core/hash_embed.h"

#include <algorithm>
#include <cmath>

#include "core/tally.h"

namespace ebb {

namespace {

// Counts the words of a text, then hands its counts to `use`.
template <typename Use>
class CountSink {
 public:
  CountSink(std::size_t dim, Sign sign, Use use) : dim_(dim), sign_(sign), use_(use) {}

  void word(const Md5& digest) {
    tally_.add(static_cast<std::uint32_t>(digest.mod(dim_)), sign_of(digest, sign_));
  }

  void end_text() {
    use_(tally_.counts());
    tally_.clear();
  }

 private:
  std::size_t dim_;
  Sign sign_;
  Use use_;
  Tally tally_;
};

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

void embed_texts(Span<const Text> texts, const Split& split, std::size_t dim, Sign sign,
                 float* out) {
  CountSink sink(dim, sign, [&](Span<const BucketCount> counts) {
    write_row(counts, dim, out);
    out += dim;
  });
  digest_texts(texts, split, sink);
}

SparseCounts count_texts(Span<const Text> texts, const Split& split, std::size_t dim, Sign sign) {
  SparseCounts found;
  found.text_ends.reserve(texts.size);
  CountSink sink(dim, sign, [&](Span<const BucketCount> counts) {
    for (const BucketCount& c : counts) {
      if (c.count == 0) continue;
      found.buckets.push_back(c.bucket);
      found.counts.push_back(c.count);
    }
    found.text_ends.push_back(static_cast<std::int64_t>(found.buckets.size()));
  });
  digest_texts(texts, split, sink);
  return found;
}

}  // namespace ebb
