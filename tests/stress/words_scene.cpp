// Every vector has bucket 0 once and no other query bucket, so its cosine follows from its norm.
#include <cmath>
#include <cstdint>
#include <memory>

#include "core/errors.h"
#include "core/word_scan.h"
#include "stress/scene.h"

namespace stress {

namespace {

constexpr std::size_t kDim = 64;
constexpr std::size_t kMost = 3000;
constexpr std::size_t kRoom = 2 * kMost;

// Texts that hold bucket 0 once, and the buckets 1 to n (below 8) once each.
struct Texts {
  std::vector<std::uint32_t> buckets;
  std::vector<std::int32_t> counts;
  std::vector<std::int64_t> ends;

  Texts(Random& random, std::size_t texts) {
    for (std::size_t text = 0; text < texts; ++text) {
      for (std::size_t bucket = 0, most = below(random, 8); bucket <= most; ++bucket) {
        buckets.push_back(static_cast<std::uint32_t>(bucket));
        counts.push_back(1);
      }
      ends.push_back(static_cast<std::int64_t>(buckets.size()));
    }
  }
  ebb::WordCounts view() const {
    return {{buckets.data(), buckets.size()},
            {counts.data(), counts.size()},
            {ends.data(), ends.size()}};
  }
};

// A slot may have died, or gone in a new generation: then the vectors say so.
template <typename Call>
void unless_gone(const Call& call) {
  try {
    call();
  } catch (const ebb::ValueError&) {
  }
}

std::vector<std::int64_t> some_slots(const ebb::WordVectors& vectors, Random& random) {
  std::vector<std::int64_t> slots;
  const std::size_t size = vectors.size();
  for (std::size_t i = 0; size > 0 && i < 16; ++i) {
    slots.push_back(static_cast<std::int64_t>(below(random, size)));
  }
  return slots;
}

void append(ebb::WordVectors& vectors, Random& random) {
  if (vectors.size() >= kRoom) return;  // `kill` makes room
  vectors.append(Texts(random, 16).view());
}

void overwrite(ebb::WordVectors& vectors, Random& random) {
  const Texts text(random, 1);
  for (const std::int64_t slot : some_slots(vectors, random)) {
    unless_gone([&] { vectors.overwrite(slot, text.view()); });
  }
}

void kill(ebb::WordVectors& vectors, Random& random) {
  const std::vector<std::int64_t> slots = some_slots(vectors, random);
  unless_gone([&] { vectors.tombstone({slots.data(), slots.size()}); });
  if (vectors.size() > kMost) {
    std::vector<std::int64_t> old(vectors.size() / 2);
    for (std::size_t i = 0; i < old.size(); ++i) old[i] = static_cast<std::int64_t>(i);
    unless_gone([&] { vectors.tombstone({old.data(), old.size()}); });
    vectors.compact();
  }
}

bool is_cosine(double cosine) {
  if (cosine == 0.0) return true;  // a dead row
  const double squares = 1.0 / (cosine * cosine);
  return std::abs(squares - std::round(squares)) < 1e-9 && squares < 8.5;
}

const std::uint32_t kBucket = 0;
const std::int32_t kOnce = 1;
const std::int64_t kEnd = 1;
const ebb::WordCounts kCue{{&kBucket, 1}, {&kOnce, 1}, {&kEnd, 1}};

void search(const ebb::WordVectors& vectors, Random& random) {
  ebb::Selection selection;
  selection.k = 1 + below(random, 40);
  const ebb::RankedWords found = ebb::top_affine(vectors, kCue, {}, {}, selection);
  for (std::size_t i = 0; i < found.slots.size(); ++i) {
    require(found.cosines[i] > 0.0 && is_cosine(found.cosines[i]), "a vector was read half");
    require(i == 0 || found.scores[i] <= found.scores[i - 1], "not best first");
  }
}

void look(const ebb::WordVectors& vectors, Random& random) {
  require(vectors.live() <= kRoom + 16, "more vectors than were appended");
  require(vectors.bytes() < std::size_t{1} << 30, "too much memory");
  require(vectors.generation() >= 0, "a generation below 0");
  const std::vector<std::int64_t> slots = some_slots(vectors, random);
  unless_gone([&] {
    for (const double one : ebb::cosines(vectors, kCue, {slots.data(), slots.size()})) {
      require(is_cosine(one), "a vector was read half");
    }
  });
}

}  // namespace

Scene words_scene() {
  const auto vectors = std::make_shared<ebb::WordVectors>(kDim);
  return {"words",
          {{"append", [vectors](Random& random) { append(*vectors, random); }},
           {"overwrite", [vectors](Random& random) { overwrite(*vectors, random); }},
           {"kill", [vectors](Random& random) { kill(*vectors, random); }},
           {"search", [vectors](Random& random) { search(*vectors, random); }},
           {"search", [vectors](Random& random) { search(*vectors, random); }},
           {"look", [vectors](Random& random) { look(*vectors, random); }}}};
}

}  // namespace stress
