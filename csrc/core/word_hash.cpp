#include "core/word_hash.h"

#include <algorithm>

#include "core/dispatch.h"
#include "core/errors.h"
#include "core/ragged.h"

namespace ebb {

namespace {

std::int8_t sign_of(const Md5& digest, Sign sign) {
  if (sign == Sign::kNone) return 1;
  return digest.bit(sign == Sign::kSeed ? 8 : 64) ? 1 : -1;
}

// use(i, digest of word `first + i`) for i < count, hashed a chunk at a time.
template <typename Use>
void for_digests(const WordBatch& batch, std::size_t first, std::size_t count, Use use) {
  Span<const char> words[kHashChunk];
  Md5 digests[kHashChunk];
  for (std::size_t done = 0; done < count; done += kHashChunk) {
    const std::size_t size = std::min(kHashChunk, count - done);
    for (std::size_t i = 0; i < size; ++i) words[i] = word_at(batch, first + done + i);
    digest_words(words, size, digests);
    for (std::size_t i = 0; i < size; ++i) use(done + i, digests[i]);
  }
}

}  // namespace

Sign sign_named(const std::string& name) {
  if (name == "none") return Sign::kNone;
  if (name == "seed") return Sign::kSeed;
  if (name == "independent") return Sign::kIndependent;
  throw ValueError("sign", "'none', 'seed' or 'independent'", "'" + name + "'");
}

void digest_words(const Span<const char>* words, std::size_t count, Md5* out) {
  active().md5_short(words, count, out);
  for (std::size_t i = 0; i < count; ++i) {
    if (words[i].size > kShortWord) out[i] = md5(words[i]);
  }
}

std::vector<std::uint64_t> hash_words(const WordBatch& batch) {
  std::vector<std::uint64_t> ids(batch.word_ends.size);
  for_digests(batch, 0, ids.size(), [&](std::size_t i, const Md5& digest) { ids[i] = digest.low; });
  return ids;
}

void bucket_words(const WordBatch& batch, std::size_t first, std::size_t count, std::uint64_t dim,
                  Sign sign, std::uint32_t* buckets, std::int8_t* signs) {
  for_digests(batch, first, count, [&](std::size_t i, const Md5& digest) {
    buckets[i] = static_cast<std::uint32_t>(digest.mod(dim));
    signs[i] = sign_of(digest, sign);
  });
}

}  // namespace ebb
