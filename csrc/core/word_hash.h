// Words -> digests -> term ids, or buckets and signs. Everything that hashes words goes through
// digest_words, many words per call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/md5.h"
#include "core/span.h"
#include "core/term_words.h"
#include "core/text.h"
#include "core/word_list.h"

namespace ebb {

// What decides whether a word adds 1 to its bucket or takes 1 away.
enum class Sign {
  kNone,         // always +1
  kSeed,         // bit 8 of the digest: 1 is +1, 0 is -1; for dim 2^9 and up part of the bucket
  kIndependent,  // bit 64, which no power-of-two bucket sees
};

// The sign called "none", "seed" or "independent". Throws ValueError.
Sign sign_named(const std::string& name);

// +1 or -1.
inline std::int32_t sign_of(const Md5& digest, Sign sign) {
  if (sign == Sign::kNone) return 1;
  return digest.bit(sign == Sign::kSeed ? 8 : 64) ? 1 : -1;
}

// out[i] = digest of words[i], for i < count. May read up to 16 bytes from the beginning of a word,
// within the page of memory where they lie.
void digest_words(const Span<const char>* words, std::size_t count, Md5* out);

// The low 64 bits of each word's digest.
std::vector<std::uint64_t> hash_words(Span<const Span<const char>> words);

// Numbers of many texts, back to back; text t ends at text_ends[t].
struct Terms {
  std::vector<std::uint64_t> ids;
  std::vector<std::int64_t> text_ends;
};

// The hashes of what TermWords finds in every text; as there, two ends per text.
Terms hash_texts(Span<const Text> texts, const TermSplit& split);

// How many words are hashed at a time: a multiple of what fills the lanes of any instruction set,
// so few that they fit a stack and stay in the first-level cache.
constexpr std::size_t kHashChunk = 512;

// sink.words(digests, count) for the words of a text, in order and in one call or several, and
// sink.end_text() after them; text after text. `List` is a WordList or TermWords, with its split.
template <typename List = WordList, typename ListSplit, typename Sink>
void digest_texts(Span<const Text> texts, const ListSplit& split, Sink& sink) {
  List list;
  Md5 digests[kHashChunk];
  for (std::size_t t = 0; t < texts.size; ++t) {
    list.add(texts.data[t], split);
    // Most texts are far shorter than a chunk: they are hashed together.
    const Span<const Span<const char>> words = list.words();
    if (words.size < kHashChunk && t + 1 < texts.size) continue;
    const std::size_t* end = list.text_ends().begin();
    for (std::size_t first = 0; first < words.size;) {
      const std::size_t last = std::min(first + kHashChunk, words.size);
      digest_words(words.data + first, last - first, digests);
      for (const Md5* next = digests; first < last;) {
        for (; *end <= first; ++end) sink.end_text();
        const std::size_t count = std::min(*end, last) - first;
        sink.words(next, count);
        next += count;
        first += count;
      }
    }
    for (; end != list.text_ends().end(); ++end) sink.end_text();
    list.clear();
  }
}

}  // namespace ebb
