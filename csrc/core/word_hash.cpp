#include "core/word_hash.h"

#include "core/dispatch.h"
#include "core/errors.h"

namespace ebb {

namespace {

class HashSink {
 public:
  explicit HashSink(Terms& terms) : terms_(terms) {}

  void words(const Md5* digests, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) terms_.ids.push_back(digests[i].low);
  }

  void end_text() { terms_.text_ends.push_back(static_cast<std::int64_t>(terms_.ids.size())); }

 private:
  Terms& terms_;
};

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

std::vector<std::uint64_t> hash_words(Span<const Span<const char>> words) {
  std::vector<Md5> digests(words.size);
  digest_words(words.data, words.size, digests.data());
  std::vector<std::uint64_t> ids(words.size);
  std::transform(digests.begin(), digests.end(), ids.begin(), [](const Md5& d) { return d.low; });
  return ids;
}

Terms hash_texts(Span<const Text> texts, const TermSplit& split) {
  Terms terms;
  terms.text_ends.reserve(2 * texts.size);
  HashSink sink(terms);
  digest_texts<TermWords>(texts, split, sink);
  return terms;
}

}  // namespace ebb
