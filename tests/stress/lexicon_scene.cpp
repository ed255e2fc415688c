// Learners teach each form the same term, so a lookup gives that term or nothing, never another.
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "core/lexicon.h"
#include "core/word_hash.h"
#include "stress/scene.h"

namespace stress {

namespace {

constexpr std::size_t kForms = 400;

// Some words, all of one text.
struct Words {
  std::vector<std::string> words;

  std::vector<ebb::Span<const char>> views() const {
    std::vector<ebb::Span<const char>> made;
    for (const std::string& word : words) made.push_back({word.data(), word.size()});
    return made;
  }
  std::vector<std::uint64_t> hashes() const {
    const std::vector<ebb::Span<const char>> made = views();
    return ebb::hash_words({made.data(), made.size()});
  }
  ebb::Terms as_text() const {
    const auto end = static_cast<std::int64_t>(words.size());
    return {hashes(), {end, end}};
  }
};

std::string form(std::size_t number) { return "form" + std::to_string(number); }
std::string term(std::size_t number) { return "term" + std::to_string(number % 37); }

struct Learner {
  ebb::Lexicon lexicon{kForms / 2};  // forgets now and then
  std::mutex learning;               // unknown -> learn hold together, as the header asks

  void learn(Random& random) {
    Words forms, terms;
    for (std::size_t i = 0; i < 20; ++i) {
      const std::size_t number = below(random, kForms);
      forms.words.push_back(form(number));
      terms.words.push_back(term(number));
    }
    const std::vector<ebb::Span<const char>> known = forms.views(), meant = terms.views();
    const std::lock_guard<std::mutex> held(learning);
    lexicon.unknown(forms.as_text());
    lexicon.learn({known.data(), known.size()}, {meant.data(), meant.size()});
    require(lexicon.terms(forms.as_text()).has_value(), "what was just learnt is not known");
  }

  void look_up(Random& random) const {
    const std::size_t number = below(random, kForms);
    const Words asked{{form(number)}}, meant{{term(number)}};
    const auto found = lexicon.terms(asked.as_text());
    if (!found) return;
    require(found->ids == meant.hashes(), "a form means another term");
  }

  void forget() {
    const std::lock_guard<std::mutex> held(learning);
    lexicon.clear();
    require(lexicon.size() == 0, "something was not forgotten");
  }
};

}  // namespace

Scene lexicon_scene() {
  const auto learner = std::make_shared<Learner>();
  const auto learn = [learner](Random& random) { learner->learn(random); };
  const auto look_up = [learner](Random& random) { learner->look_up(random); };
  return {"lexicon",
          {{"learn", learn},
           {"learn", learn},
           {"look up", look_up},
           {"look up", look_up},
           {"forget", [learner](Random&) { learner->forget(); }}}};
}

}  // namespace stress
