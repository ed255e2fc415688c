#include "core/searches.h"

namespace ebb {

Rankings Searches::run(const Crew& crew) const {
  std::vector<Ranking> found(searches_.size());
  crew.run(searches_.size(), [&](std::size_t s) { found[s] = searches_[s](); });
  Rankings all;
  std::size_t count = 0;
  for (const Ranking& one : found) count += one.slots.size();
  all.slots.reserve(count);
  all.values.reserve(count);
  all.ends.reserve(found.size());
  for (const Ranking& one : found) {
    all.slots.insert(all.slots.end(), one.slots.begin(), one.slots.end());
    all.values.insert(all.values.end(), one.values.begin(), one.values.end());
    all.ends.push_back(static_cast<std::int64_t>(all.slots.size()));
  }
  return all;
}

}  // namespace ebb
