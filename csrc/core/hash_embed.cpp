#include "core/hash_embed.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/tally.h"

namespace ebb {

namespace {

// A word's bucket, and what it adds there.
class Rule {
 public:
  Rule(std::size_t dim, Sign sign) : dim_(dim), sign_(sign) {}

  std::uint32_t bucket(const Md5& digest) const {
    return static_cast<std::uint32_t>(digest.mod(dim_));
  }

  std::int32_t sign(const Md5& digest) const { return sign_of(digest, sign_); }

 private:
  std::size_t dim_;
  Sign sign_;
};

// Writes row after row. A row's own memory holds its counts, as integers, until the text ends: no
// table, no branch that depends on which words repeat.
class RowSink {
 public:
  RowSink(std::size_t dim, Sign sign, float* out) : rule_(dim, sign), dim_(dim), row_(out) {
    static_assert(sizeof(float) == sizeof(std::int32_t));
  }

  void words(const Md5* digests, std::size_t count) {
    begin();
    const std::size_t known = seen_.size();
    seen_.resize(known + count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t bucket = rule_.bucket(digests[i]);
      const std::int32_t sign = rule_.sign(digests[i]);
      const std::int32_t before = count_at(bucket);
      squares_ += 2 * std::int64_t{before} * sign + 1;  // (c + s)^2 - c^2 for s = +1 or -1
      const std::int32_t after = before + sign;
      std::memcpy(row_ + bucket, &after, sizeof after);
      seen_[known + i].bucket = bucket;
    }
  }

  void end_text() {
    begin();
    // All counts are read before the first is written over, since buckets may repeat. If they
    // cancel to nothing the row is all zeros already.
    const double norm = std::sqrt(static_cast<double>(squares_));
    for (Seen& word : seen_) {
      word.value = squares_ == 0 ? 0.0F : static_cast<float>(count_at(word.bucket) / norm);
    }
    for (const Seen& word : seen_) row_[word.bucket] = word.value;
    row_ += dim_;
    begun_ = false;
  }

 private:
  struct Seen {
    std::uint32_t bucket;
    float value;
  };

  void begin() {
    if (begun_) return;
    std::fill_n(row_, dim_, 0.0F);
    seen_.clear();
    squares_ = 0;
    begun_ = true;
  }

  std::int32_t count_at(std::uint32_t bucket) const {
    std::int32_t count = 0;
    std::memcpy(&count, row_ + bucket, sizeof count);
    return count;
  }

  Rule rule_;
  std::size_t dim_;
  float* row_;
  bool begun_ = false;
  std::int64_t squares_ = 0;
  std::vector<Seen> seen_;  // one per word of the text
};

// Counts in a table whose size follows the text, whatever `dim` is.
class SparseSink {
 public:
  SparseSink(std::size_t dim, Sign sign, SparseCounts& found) : rule_(dim, sign), found_(found) {}

  void words(const Md5* digests, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      tally_.add(rule_.bucket(digests[i]), rule_.sign(digests[i]));
    }
  }

  void end_text() {
    for (const BucketCount& c : tally_.counts()) {
      if (c.count == 0) continue;
      found_.buckets.push_back(c.bucket);
      found_.counts.push_back(c.count);
    }
    found_.text_ends.push_back(static_cast<std::int64_t>(found_.buckets.size()));
    tally_.clear();
  }

 private:
  Rule rule_;
  SparseCounts& found_;
  Tally tally_;
};

}  // namespace

void embed_texts(Span<const Text> texts, const Split& split, std::size_t dim, Sign sign,
                 float* out) {
  RowSink sink(dim, sign, out);
  digest_texts(texts, split, sink);
}

SparseCounts count_texts(Span<const Text> texts, const Split& split, std::size_t dim, Sign sign) {
  SparseCounts found;
  found.text_ends.reserve(texts.size);
  SparseSink sink(dim, sign, found);
  digest_texts(texts, split, sink);
  return found;
}

}  // namespace ebb
