#include "core/bounded_scores.h"

#include <algorithm>
#include <utility>

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

// What may be among the best: slots, each once, and what speaks for each.
struct Candidates {
  std::vector<std::int64_t> slots;
  std::vector<double> familiarity;
  std::vector<double> activation;
};

Candidates matches_of(const BoundedQuestion& question, const BoundedRule& rule) {
  Candidates found{{question.slots.begin(), question.slots.end()}, {}, {}};
  for (const double score : question.scores) {
    found.familiarity.push_back(rule.lexical * score / rule.idf / rule.lexical);
  }
  found.activation.resize(found.slots.size(), 0.0);
  return found;
}

// The best that may be wanted, their places among the candidates riding along where a scan keeps
// the dot: small integers are exact in double.
std::vector<Scored> best_of(const Candidates& found, const std::vector<double>& retention,
                            Span<const std::int64_t> newness, const BoundedRule& rule) {
  TopK best(wanted_of(rule.k, rule.precedence));
  for (std::size_t i = 0; i < found.slots.size(); ++i) {
    const double brought_up = std::min(rule.cascade * found.activation[i], 1.0);
    const double evidence = 1.0 - (1.0 - found.familiarity[i]) * (1.0 - brought_up);
    const double score = evidence * retention[i];
    const std::int64_t slot = found.slots[i];
    if (!(score > 0.0)) continue;
    best.offer({score, newness[static_cast<std::size_t>(slot)], slot, static_cast<double>(i)});
  }
  return std::move(best).take();
}

// What links and names activate, ascending by slot, each once.
Ties activated(const InvertedIndex& index, const BoundedQuestion& question, const BoundedRule& rule,
               const Candidates& found) {
  Ties named;
  if (!question.named.empty() && !found.slots.empty() && found.familiarity[0] > 0.0) {
    const TieSeed seed{found.slots[0], found.familiarity[0], question.named};
    named = tied(index, seed, question.cue, question.mask, rule.ties);
  }
  if (question.reached.empty()) return named;
  std::vector<std::pair<std::int64_t, double>> parts;
  for (std::size_t i = 0; i < question.reached.size; ++i) {
    parts.emplace_back(question.reached[i], question.activation[i]);
  }
  for (std::size_t i = 0; i < named.slots.size(); ++i) {
    parts.emplace_back(named.slots[i], named.activation[i]);
  }
  std::sort(parts.begin(), parts.end());
  Ties all;
  for (const auto& [slot, activation] : parts) {
    if (!all.slots.empty() && all.slots.back() == slot) {
      all.activation.back() = std::min(all.activation.back() + activation, 1.0);
    } else {
      all.slots.push_back(slot);
      all.activation.push_back(activation);
    }
  }
  return all;
}

// Adds what was activated, as familiar as its own words make it.
void bring_up(const InvertedIndex& index, const BoundedQuestion& question, const BoundedRule& rule,
              const Ties& activated, Candidates& found) {
  std::vector<bool> known(activated.slots.size(), false);
  for (std::size_t i = 0; i < question.slots.size; ++i) {
    const auto at =
        std::lower_bound(activated.slots.begin(), activated.slots.end(), found.slots[i]);
    if (at == activated.slots.end() || *at != found.slots[i]) continue;
    const auto place = static_cast<std::size_t>(at - activated.slots.begin());
    known[place] = true;
    found.activation[i] = activated.activation[place];
  }
  std::vector<std::int64_t> fresh;
  for (std::size_t place = 0; place < known.size(); ++place) {
    if (known[place]) continue;
    fresh.push_back(activated.slots[place]);
    found.activation.push_back(activated.activation[place]);
  }
  if (fresh.empty()) return;
  found.slots.insert(found.slots.end(), fresh.begin(), fresh.end());
  for (const double score : score_bm25(index, question.cue, question.bm25, view(fresh))) {
    found.familiarity.push_back(rule.lexical * score / rule.idf / rule.lexical);
  }
}

}  // namespace

BoundedRanking top_bounded(const InvertedIndex& index, const BoundedQuestion& question,
                           const RetainedColumns& columns, const BoundedRule& rule) {
  Candidates found = matches_of(question, rule);
  const Ties brought_up = activated(index, question, rule, found);
  if (!brought_up.slots.empty()) bring_up(index, question, rule, brought_up, found);
  const std::vector<double> retained = retrievabilities(view(found.slots), columns, rule.law);
  std::vector<double> retention;
  for (const double r : retained) retention.push_back(rule.floor + (1.0 - rule.floor) * r);
  const std::vector<Scored> first = best_of(found, retention, columns.newness, rule);
  BoundedRanking ranking;
  for (const Placed& one : preceding(index, question.cue, view(first), rule.k, rule.precedence)) {
    const auto i = static_cast<std::size_t>(one.match.dot);
    ranking.slots.push_back(one.match.slot);
    ranking.scores.push_back(one.score);
    ranking.own_scores.push_back(one.match.score);
    ranking.familiarity.push_back(found.familiarity[i]);
    ranking.activation.push_back(found.activation[i]);
    ranking.retrievability.push_back(retained[i]);
    ranking.retention.push_back(retention[i]);
  }
  if (ranking.own_scores == ranking.scores) ranking.own_scores.clear();
  const auto none = [](double activation) { return activation == 0.0; };
  if (std::all_of(ranking.activation.begin(), ranking.activation.end(), none)) {
    ranking.activation.clear();
  }
  return ranking;
}

}  // namespace ebb
