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

// Some words, back to back, each a text of its own.
struct Words {
  std::string utf8;
  std::vector<std::int64_t> ends;
  std::vector<std::int64_t> texts;

  void add(const std::string& word) {
    utf8 += word;
    ends.push_back(static_cast<std::int64_t>(utf8.size()));
    texts.push_back(static_cast<std::int64_t>(ends.size()));
  }
  ebb::WordBatch view() const {
    return {{utf8.data(), utf8.size()}, {ends.data(), ends.size()}, {texts.data(), texts.size()}};
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
      forms.add(form(number));
      terms.add(term(number));
    }
    const std::lock_guard<std::mutex> held(learning);
    lexicon.unknown(forms.view());
    lexicon.learn(forms.view(), terms.view());
    require(lexicon.terms(forms.view()).has_value(), "what was just learnt is not known");
  }

  void look_up(Random& random) const {
    const std::size_t number = below(random, kForms);
    Words asked, meant;
    asked.add(form(number));
    meant.add(term(number));
    const auto found = lexicon.terms(asked.view());
    if (!found) return;
    require(found->ids == ebb::hash_words(meant.view()), "a form means another term");
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
