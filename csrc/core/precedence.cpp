#include "core/precedence.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/errors.h"
#include "core/term_ties.h"

namespace ebb {

void check_precedence(const Precedence& rule) {
  if (!(rule.near > 0.0 && rule.near <= 1.0)) {
    throw ValueError("near", "a number above 0, up to 1", std::to_string(rule.near));
  }
}

std::vector<std::size_t> exchanged(Span<const Scored> best, Span<const std::uint64_t> kinds,
                                   const Precedence& rule) {
  std::vector<std::size_t> at(best.size);
  std::iota(at.begin(), at.end(), std::size_t{0});
  std::vector<bool> grouped(kinds.size, false);
  std::vector<std::size_t> places, members;
  for (std::size_t first = 0; first < kinds.size; ++first) {
    if (grouped[first] || kinds[first] == 0) continue;
    const double least = rule.near * best[first].score;
    places.clear();
    for (std::size_t place = first; place < kinds.size && best[place].score >= least; ++place) {
      if (grouped[place] || kinds[place] != kinds[first]) continue;
      grouped[place] = true;
      places.push_back(place);
    }
    members = places;
    std::stable_sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
      const std::int64_t one = best[a].newness, other = best[b].newness;
      return rule.past ? one < other : one > other;
    });
    for (std::size_t i = 0; i < places.size(); ++i) at[places[i]] = members[i];
  }
  return at;
}

std::size_t wanted_of(std::size_t k, const Precedence& rule) { return std::max(k, rule.among); }

std::vector<Placed> preceding(const InvertedIndex& index, Span<const std::uint64_t> cue,
                              Span<const Scored> best, std::size_t k, const Precedence& rule) {
  std::vector<std::int64_t> slots;
  for (std::size_t i = 0; i < std::min(best.size, rule.among); ++i) slots.push_back(best[i].slot);
  const auto kinds = matched_terms(index, cue, {slots.data(), slots.size()});
  const auto at = exchanged(best, {kinds.data(), kinds.size()}, rule);
  std::vector<Placed> placed;
  for (std::size_t i = 0; i < std::min(k, at.size()); ++i) {
    placed.push_back({best[at[i]], best[i].score});
  }
  return placed;
}

}  // namespace ebb
