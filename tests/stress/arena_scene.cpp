// Rows are axes, so whoever reads half a row, or a row that moved, sees another dot than 0 or 1.
#include <cstdint>
#include <memory>

#include "core/arena.h"
#include "core/errors.h"
#include "core/scan.h"
#include "stress/scene.h"

namespace stress {

namespace {

constexpr std::size_t kDim = 33;
constexpr std::size_t kMost = 3000;
constexpr std::size_t kRoom = 2 * kMost;
constexpr std::size_t kAtOnce = 64;

std::vector<float> axes(Random& random, std::size_t count) {
  std::vector<float> rows(count * kDim, 0.0f);
  for (std::size_t i = 0; i < count; ++i) rows[i * kDim + below(random, kDim)] = 1.0f;
  return rows;
}

void append(ebb::Arena& arena, Random& random) {
  if (arena.size() >= kRoom) return;  // `kill` makes room
  const std::size_t count = 1 + below(random, kAtOnce);
  arena.append(axes(random, count).data(), count);
}

// A slot may have died, or gone in a new generation: then the arena says so.
template <typename Change>
void unless_gone(const Change& change) {
  try {
    change();
  } catch (const ebb::ValueError&) {
  }
}

void kill(ebb::Arena& arena, Random& random) {
  std::vector<std::int64_t> slots;
  const std::size_t size = arena.size();
  for (std::size_t i = 0; size > 0 && i < kAtOnce; ++i) {
    slots.push_back(static_cast<std::int64_t>(below(random, size)));
  }
  unless_gone([&] { arena.tombstone({slots.data(), slots.size()}); });
  if (arena.size() > kMost) {
    std::vector<std::int64_t> old(arena.size() / 2);
    for (std::size_t i = 0; i < old.size(); ++i) old[i] = static_cast<std::int64_t>(i);
    unless_gone([&] { arena.tombstone({old.data(), old.size()}); });
    arena.compact();
  }
}

void overwrite(ebb::Arena& arena, Random& random) {
  const std::vector<float> row = axes(random, 1);
  const std::size_t size = arena.size();
  if (size == 0) return;
  unless_gone([&] { arena.overwrite(static_cast<std::int64_t>(below(random, size)), row.data()); });
}

void check(const ebb::Ranked& found) {
  std::size_t i = 0;
  for (const std::int64_t end : found.ends) {
    for (const std::size_t first = i; i < static_cast<std::size_t>(end); ++i) {
      require(found.dots[i] == 0.0f || found.dots[i] == 1.0f, "a row was read half");
      require(i == first || found.scores[i] <= found.scores[i - 1], "not best first");
    }
  }
  require(i == found.slots.size(), "results that belong to no query");
}

void search(const ebb::Arena& arena, Random& random) {
  const std::vector<float> queries = axes(random, 3);
  ebb::Selection selection;
  selection.k = 1 + below(random, 40);
  check(ebb::top_affine(arena, {queries.data(), 1, kDim}, {}, {}, selection));
  check(ebb::top_affine(arena, {queries.data(), 3, kDim}, {}, {}, selection));
}

// The column is of one moment; an arena that has grown since refuses it.
void search_weighted(const ebb::Arena& arena, Random& random) {
  const std::vector<float> query = axes(random, 1);
  const std::size_t size = arena.size();
  std::vector<double> weights(size);
  for (double& weight : weights) weight = -static_cast<double>(below(random, 100));
  ebb::Selection selection;
  selection.k = 10;
  try {
    check(ebb::top_product(arena, {query.data(), 1, kDim}, {weights.data(), size}, selection));
  } catch (const ebb::ShapeError&) {
  }
}

void look(const ebb::Arena& arena, Random& random) {
  require(arena.live() <= kRoom + kAtOnce, "more rows than were appended");
  require(arena.generation() >= 0, "a generation below 0");
  require(arena.bytes() < std::size_t{1} << 30, "too much memory");
  const std::size_t size = arena.size();
  if (size == 0) return;
  const std::int64_t slot = static_cast<std::int64_t>(below(random, size));
  std::vector<float> row(kDim);
  unless_gone([&] { arena.copy_rows({&slot, 1}, row.data()); });
  float sum = 0.0f;
  for (const float value : row) sum += value;
  require(sum == 0.0f || sum == 1.0f, "a row was copied half");
}

}  // namespace

Scene arena_scene() {
  const auto arena = std::make_shared<ebb::Arena>(kDim);
  return {"arena",
          {{"append", [arena](Random& random) { append(*arena, random); }},
           {"overwrite", [arena](Random& random) { overwrite(*arena, random); }},
           {"kill", [arena](Random& random) { kill(*arena, random); }},
           {"search", [arena](Random& random) { search(*arena, random); }},
           {"weighted", [arena](Random& random) { search_weighted(*arena, random); }},
           {"look", [arena](Random& random) { look(*arena, random); }}}};
}

}  // namespace stress
