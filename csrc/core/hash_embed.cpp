#include "core/hash_embed.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/short_list.h"
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

// Counts divided by one norm. Most are small: their quotients are made once.
class Quotients {
 public:
  explicit Quotients(double norm) : norm_(norm) {
    small_[kSmall] = 0.0F;
    for (std::int32_t c = 1; c <= kSmall; ++c) {
      small_[kSmall + c] = divided(c);
      small_[kSmall - c] = -small_[kSmall + c];
    }
  }

  float of(std::int32_t count) const {
    const auto place = static_cast<std::uint32_t>(count + kSmall);
    return place <= 2 * kSmall ? small_[place] : divided(count);
  }

 private:
  static constexpr std::int32_t kSmall = 3;

  float divided(std::int32_t count) const { return static_cast<float>(count / norm_); }

  double norm_;
  float small_[2 * kSmall + 1];
};

// Writes row after row. Counts stand in a table of one integer per bucket until their text ends: no
// branch depends on which words repeat. The table is the row's own memory, except where several
// rows are written of a table that stays in the first-level cache: then nothing waits for a row.
class RowSink {
 public:
  RowSink(std::size_t dim, Sign sign, float* out, std::size_t rows)
      : rule_(dim, sign), dim_(dim), row_(out), apart_(rows > 1 && dim <= kMostApart) {
    static_assert(sizeof(float) == sizeof(std::int32_t));
    if (apart_) table_.resize(dim);
    // Zeros are on their way to the first row while its words are hashed.
    if (rows > 0) begin();
  }

  void words(const Md5* digests, std::size_t count) {
    begin();
    const Rule rule = rule_;
    void* const table = counts();
    const std::size_t known = buckets_.size();
    std::uint32_t* const buckets = buckets_.resize_for_overwrite(known + count) + known;
    std::int64_t squares = squares_;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t bucket = rule.bucket(digests[i]);
      const std::int32_t sign = rule.sign(digests[i]);
      const std::int32_t before = count_in(table, bucket);
      squares += 2 * std::int64_t{before} * sign + 1;  // (c + s)^2 - c^2 for s = +1 or -1
      set_count(table, bucket, before + sign);
      buckets[i] = bucket;
    }
    squares_ = squares;
  }

  void end_text() {
    begin();
    scale();
    row_ += dim_;
    begun_ = false;
  }

 private:
  // Half of the first-level cache of common processors.
  static constexpr std::size_t kMostApart = 4096;

  // Texts of up to so many words need no memory but the stack.
  static constexpr std::size_t kShortText = 128;

  void begin() {
    if (begun_) return;
    std::fill_n(row_, dim_, 0.0F);
    buckets_.resize_for_overwrite(0);
    squares_ = 0;
    begun_ = true;
  }

  // All counts are read before the first is written over, since buckets may repeat. Counts that
  // cancel to nothing are divided by 1.
  void scale() {
    const Quotients scaled(squares_ == 0 ? 1.0 : std::sqrt(static_cast<double>(squares_)));
    const std::size_t words = buckets_.size();
    const std::uint32_t* const buckets = buckets_.begin();
    float* const values = values_.resize_for_overwrite(words);
    void* const table = counts();
    float* const row = row_;
    for (std::size_t i = 0; i < words; ++i) values[i] = scaled.of(count_in(table, buckets[i]));
    if (apart_) {
      for (std::size_t i = 0; i < words; ++i) set_count(table, buckets[i], 0);
    }
    for (std::size_t i = 0; i < words; ++i) row[buckets[i]] = values[i];
  }

  void* counts() { return apart_ ? static_cast<void*>(table_.data()) : row_; }

  static std::int32_t count_in(const void* table, std::uint32_t bucket) {
    std::int32_t count = 0;
    std::memcpy(&count, static_cast<const char*>(table) + sizeof count * bucket, sizeof count);
    return count;
  }

  static void set_count(void* table, std::uint32_t bucket, std::int32_t count) {
    std::memcpy(static_cast<char*>(table) + sizeof count * bucket, &count, sizeof count);
  }

  Rule rule_;
  std::size_t dim_;
  float* row_;
  bool apart_;
  std::vector<std::int32_t> table_;  // all zeros between texts
  bool begun_ = false;
  std::int64_t squares_ = 0;
  // One of each per word of the text.
  ShortList<std::uint32_t, kShortText> buckets_;
  ShortList<float, kShortText> values_;
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
  RowSink sink(dim, sign, out, texts.size);
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
