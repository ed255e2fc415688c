// Words -> digests -> term ids, or buckets and signs. Everything that hashes words goes through
// digest_words, many words per call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/md5.h"
#include "core/span.h"

namespace ebb {

// What decides whether a word adds 1 to its bucket or takes 1 away.
enum class Sign {
  kNone,         // always +1
  kSeed,         // bit 8 of the digest: 1 is +1, 0 is -1; for dim 2^9 and up part of the bucket
  kIndependent,  // bit 64, which no power-of-two bucket sees
};

// The sign called "none", "seed" or "independent". Throws ValueError.
Sign sign_named(const std::string& name);

// How many words callers hash at a time: enough to fill vector lanes, small enough for a stack.
constexpr std::size_t kHashChunk = 256;

// out[i] = digest of words[i], for i < count. May read up to 16 bytes from the beginning of a word,
// within the page of memory where they lie.
void digest_words(const Span<const char>* words, std::size_t count, Md5* out);

// One term id per word: the low 64 bits of its digest.
std::vector<std::uint64_t> hash_words(const WordBatch& batch);

// buckets[i] = digest mod dim and signs[i] = +1 or -1 of word `first + i`, for i < count and dim in
// 1..2^32.
void bucket_words(const WordBatch& batch, std::size_t first, std::size_t count, std::uint64_t dim,
                  Sign sign, std::uint32_t* buckets, std::int8_t* signs);

}  // namespace ebb
