#include "core/bounded_scores.h"

#include "core/arena.h"
#include "core/topk.h"

namespace ebb {

namespace {

template <typename T>
std::vector<T> at_slots(Span<const T> column, Span<const std::int64_t> slots) {
  std::vector<T> values(slots.size);
  for (std::size_t i = 0; i < slots.size; ++i) {
    values[i] = column[static_cast<std::size_t>(slots[i])];
  }
  return values;
}

template <typename T>
Span<const T> view(const std::vector<T>& values) {
  return {values.data(), values.size()};
}

std::vector<double> retrievabilities(Span<const std::int64_t> slots, const RetainedColumns& columns,
                                     const PowerForgetting& law) {
  const std::vector<double> importance = at_slots(columns.important.base, slots);
  const std::vector<double> strength = at_slots(columns.important.strength, slots);
  const std::vector<double> intensity = at_slots(columns.important.intensity, slots);
  const std::vector<std::int64_t> since = at_slots(columns.idle.since, slots);
  std::vector<double> found(slots.size);
  power_retention({view(since), columns.idle.now, columns.idle.unit},
                  {view(importance), view(strength), view(intensity)}, law, found.data());
  return found;
}

}  // namespace

BoundedRanking top_bounded(const MatchedTexts& matched, const RetainedColumns& columns,
                           const BoundedRule& rule) {
  check_slots(matched.slots, columns.newness.size, "slots");
  const std::size_t count = matched.slots.size;
  const std::vector<double> retained = retrievabilities(matched.slots, columns, rule.law);
  std::vector<double> familiar(count), retention(count);
  TopK best(rule.k);
  for (std::size_t i = 0; i < count; ++i) {
    familiar[i] = rule.lexical * matched.bm25[i] / rule.idf / rule.lexical;
    retention[i] = rule.floor + (1.0 - rule.floor) * retained[i];
    const double score = (1.0 - (1.0 - familiar[i])) * retention[i];
    const std::int64_t slot = matched.slots[i];
    // The place rides along where a scan keeps the dot: small integers are exact in double.
    if (score > 0.0) {
      best.offer(
          {score, columns.newness[static_cast<std::size_t>(slot)], slot, static_cast<double>(i)});
    }
  }
  BoundedRanking ranking;
  for (const Scored& one : std::move(best).take()) {
    const auto i = static_cast<std::size_t>(one.dot);
    ranking.slots.push_back(one.slot);
    ranking.scores.push_back(one.score);
    ranking.familiarity.push_back(familiar[i]);
    ranking.retrievability.push_back(retained[i]);
    ranking.retention.push_back(retention[i]);
  }
  return ranking;
}

}  // namespace ebb
