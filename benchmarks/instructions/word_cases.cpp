// What is done with words: hashing, embedding, analysis, full-text ranking.
#include <memory>
#include <string>

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
  std::vector<std::string> texts;

  explicit Texts(std::size_t count) : texts(count) {
    Numbers numbers(11);
    for (std::string& text : texts) {
      for (std::size_t word = 0; word < kWords; ++word) {
        Numbers letters(numbers.below(1 + numbers.below(1 + numbers.below(5000))));
        for (std::size_t i = 2 + letters.below(11); i > 0; --i) {
          text += static_cast<char>('a' + letters.below(26));
        }
        text += ' ';
      }
    }
  }
  std::vector<ebb::Text> views() const {
    std::vector<ebb::Text> made;
    for (const std::string& text : texts) made.push_back({text.data(), text.size()});
    return made;
  }
};

const ebb::Split& split() {
  static const auto letters = [] {
    auto made = std::make_unique<ebb::CharacterSet>();
    made->fill([](std::uint32_t point) { return point >= 'a' && point <= 'z'; });
    return made;
  }();
  static const ebb::Split made{letters.get(), false};
  return made;
}

Work embed(std::size_t dim) {
  split();
  return [dim, texts = Texts(kTexts), out = std::vector<float>(kTexts * dim)]() mutable {
    const std::vector<ebb::Text> views = texts.views();
    ebb::embed_texts({views.data(), kTexts}, split(), dim, ebb::Sign::kNone, out.data());
  };
}

Work count() {
  split();
  return [texts = Texts(kTexts)] {
    const std::vector<ebb::Text> views = texts.views();
    ebb::count_texts({views.data(), kTexts}, split(), 1024, ebb::Sign::kNone);
  };
}

// The words of texts that have nothing but words of ASCII letters.
ebb::Terms words_of(const Texts& texts) {
  const std::vector<ebb::Text> views = texts.views();
  return ebb::hash_texts({views.data(), views.size()}, ebb::TermSplit{});
}

Work hash() {
  return [texts = Texts(kTexts)] { words_of(texts); };
}

// Words that are learnt as they are.
void learn(const Texts& texts, ebb::Lexicon& lexicon) {
  std::vector<ebb::Span<const char>> words;
  for (const std::string& text : texts.texts) {
    for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
      end = text.find(' ', begin);
      words.push_back({text.data() + begin, end - begin});
    }
  }
  lexicon.learn({words.data(), words.size()}, {words.data(), words.size()});
}

Work analyse() {
  const auto lexicon = std::make_shared<ebb::Lexicon>();
  const Texts texts(kTexts);
  learn(texts, *lexicon);
  return [lexicon, words = words_of(texts)] { lexicon->terms(words); };
}

struct Index {
  ebb::Terms terms = ebb::terms_as_they_are(words_of(Texts(kIndexed)));
  ebb::Postings postings;

  void append() {
    postings.append({terms.ids.data(), terms.ids.size()},
                    {terms.text_ends.data(), terms.text_ends.size()});
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
    const std::vector<std::uint64_t> cue(index->terms.ids.begin() + 3,
                                         index->terms.ids.begin() + 9);
    index->postings.top({cue.data(), cue.size()}, query);
  };
}

}  // namespace

Cases word_cases() {
  return {
      {"embed 64 texts of 14 words, 256", [] { return embed(256); }},
      {"embed 64 texts of 14 words, 1024", [] { return embed(1024); }},
      {"count 64 texts of 14 words, 1024", count},
      {"hash 64 texts of 14 words", hash},
      {"look up terms of 64 texts", analyse},
      {"append 4096 texts to postings", append},
      {"bm25 top 10 of 4096 texts", bm25},
  };
}

}  // namespace counted
