// Every text holds the term 1 and a few others, so a search for it finds live texts alone.
#include <cstdint>
#include <memory>

#include "core/errors.h"
#include "core/postings.h"
#include "stress/scene.h"

namespace stress {

namespace {

constexpr std::size_t kMost = 3000;
constexpr std::size_t kRoom = 2 * kMost;
constexpr std::size_t kTerms = 50;
const ebb::Bm25 kRule{0.9, 0.4};

void append(ebb::Postings& postings, Random& random) {
  if (postings.size() >= kRoom) return;  // `kill` makes room
  std::vector<std::uint64_t> terms;
  std::vector<std::int64_t> ends;
  for (std::size_t text = 0; text < 16; ++text) {
    terms.push_back(1);
    for (std::size_t i = below(random, 6); i > 0; --i) terms.push_back(1 + below(random, kTerms));
    ends.push_back(static_cast<std::int64_t>(terms.size()));
  }
  postings.append({terms.data(), terms.size()}, {ends.data(), ends.size()});
}

// A slot may be gone in a smaller index of another thread's making: then it says so.
template <typename Call>
void unless_gone(const Call& call) {
  try {
    call();
  } catch (const ebb::ValueError&) {
  }
}

std::vector<std::int64_t> some_slots(const ebb::Postings& postings, Random& random) {
  std::vector<std::int64_t> slots;
  const std::size_t size = postings.size();
  for (std::size_t i = 0; size > 0 && i < 16; ++i) {
    slots.push_back(static_cast<std::int64_t>(below(random, size)));
  }
  return slots;
}

void kill(ebb::Postings& postings, Random& random) {
  const std::vector<std::int64_t> slots = some_slots(postings, random);
  unless_gone([&] { postings.tombstone({slots.data(), slots.size()}); });
  if (postings.size() > kMost) {
    std::vector<std::int64_t> old(postings.size() / 2);
    for (std::size_t i = 0; i < old.size(); ++i) old[i] = static_cast<std::int64_t>(i);
    unless_gone([&] { postings.tombstone({old.data(), old.size()}); });
    postings.compact();
  }
}

void search(const ebb::Postings& postings, Random& random) {
  const std::uint64_t cue[] = {1, 1 + below(random, kTerms)};
  ebb::Bm25Query query;
  query.rule = kRule;
  query.k = static_cast<std::int64_t>(1 + below(random, 20));
  const ebb::RankedTexts found = postings.top({cue, 2}, query);
  for (std::size_t i = 0; i < found.slots.size(); ++i) {
    require(found.scores[i] > 0.0, "a text without a term was found");
    require(i == 0 || found.scores[i] <= found.scores[i - 1], "not best first");
  }
}

void score(const ebb::Postings& postings, Random& random) {
  const std::uint64_t terms[] = {1, 1 + below(random, kTerms)};
  const std::vector<std::int64_t> slots = some_slots(postings, random);
  unless_gone([&] {
    for (const double one : postings.score({terms, 2}, kRule, {slots.data(), slots.size()})) {
      require(one >= 0.0, "a score below 0");
    }
  });
}

void look(const ebb::Postings& postings, Random& random) {
  const std::uint64_t terms[] = {1, 1 + below(random, kTerms)};
  require(postings.idf({terms, 2})[0] > 0.0, "an idf of 0");
  require(postings.document_frequency({terms, 2})[0] >= 0, "a frequency below 0");
  require(postings.live() <= kRoom + 16, "more texts than were appended");
  require(postings.bytes() < std::size_t{1} << 30, "too much memory");
}

}  // namespace

Scene postings_scene() {
  const auto postings = std::make_shared<ebb::Postings>();
  return {"postings",
          {{"append", [postings](Random& random) { append(*postings, random); }},
           {"kill", [postings](Random& random) { kill(*postings, random); }},
           {"search", [postings](Random& random) { search(*postings, random); }},
           {"score", [postings](Random& random) { score(*postings, random); }},
           {"look", [postings](Random& random) { look(*postings, random); }}}};
}

}  // namespace stress
