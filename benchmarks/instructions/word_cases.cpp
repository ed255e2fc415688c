// What is done with words: hashing, embedding, analysis, full-text ranking.
#include <memory>

#include "cases.h"
#include "core/hash_embed.h"
#include "core/lexicon.h"
#include "core/postings.h"
#include "core/word_hash.h"

namespace counted {

namespace {

constexpr std::size_t kTexts = 64;
constexpr std::size_t kWords = 14;
constexpr std::size_t kIndexed = 4096;

// Texts of words of 2 to 12 letters, the first of the vocabulary much oftener than the last.
struct Texts {
  std::string utf8;
  std::vector<std::int64_t> word_ends;
  std::vector<std::int64_t> text_ends;

  explicit Texts(std::size_t count) {
    Numbers numbers(11);
    for (std::size_t text = 0; text < count; ++text) {
      for (std::size_t word = 0; word < kWords; ++word) {
        Numbers letters(numbers.below(1 + numbers.below(1 + numbers.below(5000))));
        for (std::size_t i = 2 + letters.below(11); i > 0; --i) {
          utf8 += static_cast<char>('a' + letters.below(26));
        }
        word_ends.push_back(static_cast<std::int64_t>(utf8.size()));
      }
      text_ends.push_back(static_cast<std::int64_t>(word_ends.size()));
    }
  }
  ebb::WordBatch view() const {
    return {{utf8.data(), utf8.size()},
            {word_ends.data(), word_ends.size()},
            {text_ends.data(), text_ends.size()}};
  }
};

Work embed(std::size_t dim) {
  return [dim, texts = Texts(kTexts), out = std::vector<float>(kTexts * dim)]() mutable {
    ebb::embed_words(texts.view(), dim, ebb::Sign::kNone, out.data());
  };
}

Work hash() {
  return [texts = Texts(kTexts)] { ebb::hash_words(texts.view()); };
}

Work analyse() {
  const auto lexicon = std::make_shared<ebb::Lexicon>();
  const Texts texts(kTexts);
  lexicon->learn(texts.view(), texts.view());
  return [lexicon, texts] { lexicon->terms(texts.view()); };
}

struct Index {
  Texts texts{kIndexed};
  std::vector<std::uint64_t> terms = ebb::hash_words(texts.view());
  ebb::Postings postings;

  void append() {
    postings.append({terms.data(), terms.size()}, {texts.text_ends.data(), texts.text_ends.size()});
  }
};

Work append() {
  return [index = std::make_shared<Index>()] { index->append(); };
}

Work bm25() {
  const auto index = std::make_shared<Index>();
  index->append();
  return [index] {
    ebb::Bm25Query query;
    query.rule = {0.9, 0.4};
    query.k = 10;
    const std::vector<std::uint64_t> cue(index->terms.begin() + 3, index->terms.begin() + 9);
    const std::int64_t end = static_cast<std::int64_t>(cue.size());
    std::vector<std::int64_t> ends;
    index->postings.top({cue.data(), cue.size()}, {&end, 1}, query, ends);
  };
}

}  // namespace

Cases word_cases() {
  return {
      {"embed 64 texts of 14 words, 256", [] { return embed(256); }},
      {"embed 64 texts of 14 words, 1024", [] { return embed(1024); }},
      {"hash 64 texts of 14 words", hash},
      {"look up terms of 64 texts", analyse},
      {"append 4096 texts to postings", append},
      {"bm25 top 10 of 4096 texts", bm25},
  };
}

}  // namespace counted
