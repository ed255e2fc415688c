// An arena and the lines beside it change in the same order, but not at the same moment: a search
// sees both with the same slots or says that their sizes differ.
#include <cstdint>
#include <memory>
#include <mutex>

#include "core/errors.h"
#include "core/faded_scan.h"
#include "stress/scene.h"

namespace stress {

namespace {

constexpr std::size_t kDim = 20;
constexpr std::size_t kMost = 3000;
constexpr std::size_t kRoom = 2 * kMost;
constexpr std::int64_t kHourUs = 3'600'000'000;

struct Pair {
  ebb::Arena arena{kDim};
  ebb::Fading fading{kHourUs};
  std::mutex changing;  // both or none: the owner's to see to, as fading.h says

  void append(Random& random) {
    const std::lock_guard<std::mutex> held(changing);
    if (arena.size() >= kRoom) return;  // `kill` makes room
    const std::size_t count = 1 + below(random, 64);
    std::vector<float> rows(count * kDim, 0.0f);
    std::vector<double> importance(count);
    std::vector<std::int64_t> since_us(count);
    for (std::size_t i = 0; i < count; ++i) {
      rows[i * kDim + below(random, kDim)] = 1.0f;
      importance[i] = static_cast<double>(1 + below(random, 10));
      since_us[i] = static_cast<std::int64_t>(below(random, 1000)) * kHourUs;
    }
    arena.append(rows.data(), count);
    fading.append({{importance.data(), count}, {since_us.data(), count}, {}});
  }

  void reinforce(Random& random) {
    const std::lock_guard<std::mutex> held(changing);
    if (fading.size() == 0) return;
    const auto slot = static_cast<std::int64_t>(below(random, fading.size()));
    const std::int64_t since_us = 1000 * kHourUs;
    const double importance = 5.0;
    try {
      fading.overwrite({&slot, 1}, {{&importance, 1}, {&since_us, 1}, {}});
    } catch (const ebb::ValueError&) {  // a dead slot
    }
  }

  void kill(Random& random) {
    const std::lock_guard<std::mutex> held(changing);
    if (arena.size() == 0) return;
    std::vector<std::int64_t> slots{static_cast<std::int64_t>(below(random, arena.size()))};
    const bool many = arena.size() > kMost;
    for (std::size_t i = 0; many && i < arena.size() / 2; ++i) {
      slots.push_back(static_cast<std::int64_t>(i));
    }
    arena.tombstone({slots.data(), slots.size()});
    fading.tombstone({slots.data(), slots.size()});
    if (many) require(arena.compact() == fading.compact(), "two numberings");
  }

  void search(Random& random) const {
    std::vector<float> queries(2 * kDim, 0.0f);
    for (std::size_t i = 0; i < 2; ++i) queries[i * kDim + below(random, kDim)] = 1.0f;
    ebb::Selection selection;
    selection.k = 1 + below(random, 30);
    const auto now_us = static_cast<std::int64_t>(below(random, 2000)) * kHourUs;
    try {
      check(ebb::top_faded(arena, fading, {queries.data(), 2, kDim}, {now_us, 0.01}, selection));
    } catch (const ebb::ShapeError&) {
    }
  }

  static void check(const ebb::Ranked& found) {
    std::size_t i = 0;
    for (const std::int64_t end : found.ends) {
      for (const std::size_t first = i; i < static_cast<std::size_t>(end); ++i) {
        require(found.dots[i] == 0.0f || found.dots[i] == 1.0f, "a row was read half");
        require(i == first || found.scores[i] <= found.scores[i - 1], "not best first");
      }
    }
  }
};

}  // namespace

Scene faded_scene() {
  const auto pair = std::make_shared<Pair>();
  const auto search = [pair](Random& random) { pair->search(random); };
  return {"faded",
          {{"append", [pair](Random& random) { pair->append(random); }},
           {"reinforce", [pair](Random& random) { pair->reinforce(random); }},
           {"kill", [pair](Random& random) { pair->kill(random); }},
           {"search", search},
           {"search", search}}};
}

}  // namespace stress
