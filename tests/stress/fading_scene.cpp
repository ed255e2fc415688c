// At one moment no slot is stronger than the bound of the range it lies in.
#include <cmath>
#include <cstdint>
#include <memory>

#include "core/errors.h"
#include "core/fading.h"
#include "stress/scene.h"

namespace stress {

namespace {

constexpr std::size_t kMost = 3000;
constexpr std::size_t kRoom = 2 * kMost;
constexpr std::size_t kAtOnce = 64;
constexpr std::int64_t kHourUs = 3'600'000'000;

struct Rows {
  std::vector<double> importance;
  std::vector<std::int64_t> since_us;
  std::vector<double> pace;

  Rows(Random& random, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      importance.push_back(static_cast<double>(below(random, 11)));
      since_us.push_back(static_cast<std::int64_t>(below(random, 1000)) * kHourUs);
      pace.push_back(static_cast<double>(1 + below(random, 8)) / 8.0);
    }
  }
  ebb::FadingRows view() const {
    return {{importance.data(), importance.size()},
            {since_us.data(), since_us.size()},
            ebb::Span<const double>{pace.data(), pace.size()}};
  }
};

// A slot may have died, or gone in a new generation: then the structure says so.
template <typename Change>
void unless_gone(const Change& change) {
  try {
    change();
  } catch (const ebb::ValueError&) {
  }
}

std::vector<std::int64_t> some_slots(const ebb::Fading& fading, Random& random) {
  std::vector<std::int64_t> slots;
  const std::size_t size = fading.size();
  for (std::size_t i = 0; size > 0 && i < kAtOnce; ++i) {
    slots.push_back(static_cast<std::int64_t>(below(random, size)));
  }
  return slots;
}

void append(ebb::Fading& fading, Random& random) {
  if (fading.size() >= kRoom) return;  // `kill` makes room
  fading.append(Rows(random, 1 + below(random, kAtOnce)).view());
}

void overwrite(ebb::Fading& fading, Random& random) {
  const std::vector<std::int64_t> slots = some_slots(fading, random);
  const Rows rows(random, slots.size());
  unless_gone([&] { fading.overwrite({slots.data(), slots.size()}, rows.view()); });
}

void kill(ebb::Fading& fading, Random& random) {
  const std::vector<std::int64_t> slots = some_slots(fading, random);
  unless_gone([&] { fading.tombstone({slots.data(), slots.size()}); });
  if (fading.size() > kMost) {
    std::vector<std::int64_t> old(fading.size() / 2);
    for (std::size_t i = 0; i < old.size(); ++i) old[i] = static_cast<std::int64_t>(i);
    unless_gone([&] { fading.tombstone({old.data(), old.size()}); });
    fading.compact();
  }
}

void compare(const ebb::Fading& fading, Random& random) {
  const ebb::Moment moment{static_cast<std::int64_t>(below(random, 2000)) * kHourUs, 1e-6};
  const ebb::Fading::View view = fading.read();
  if (view.size() == 0) return;
  const std::size_t first = below(random, view.size());
  const std::size_t count = 1 + below(random, view.size() - first);
  const double bound = view.bound(first, count, moment);
  std::size_t live = 0;
  for (std::size_t slot = first; slot < first + count; ++slot) {
    require(view.log_weight(slot, moment) <= bound, "a slot above its bound");
    live += view.alive(slot) ? 1 : 0;
  }
  require(live <= view.live(), "more live slots than there are");
}

void look(const ebb::Fading& fading, Random& random) {
  require(fading.generation() >= 0, "a generation below 0");
  require(fading.live() <= kRoom + kAtOnce, "more slots than were appended");
  require(fading.bytes() < std::size_t{1} << 30, "too much memory");
  const std::vector<std::int64_t> slots = some_slots(fading, random);
  const ebb::Moment moment{2000 * kHourUs, 1e-6};
  unless_gone([&] {
    for (const double weight : fading.log_weights({slots.data(), slots.size()}, moment)) {
      require(weight <= std::nextafter(std::log(10.0), 3.0), "stronger than the strongest");
    }
  });
}

}  // namespace

Scene fading_scene() {
  const auto fading = std::make_shared<ebb::Fading>(1'000'000);
  return {"fading",
          {{"append", [fading](Random& random) { append(*fading, random); }},
           {"overwrite", [fading](Random& random) { overwrite(*fading, random); }},
           {"kill", [fading](Random& random) { kill(*fading, random); }},
           {"compare", [fading](Random& random) { compare(*fading, random); }},
           {"look", [fading](Random& random) { look(*fading, random); }}}};
}

}  // namespace stress
