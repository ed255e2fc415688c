#include "core/postings.h"

#include <mutex>
#include <shared_mutex>
#include <utility>

#include "core/errors.h"

namespace ebb {

namespace {

using Reading = std::shared_lock<FairLock>;
using Writing = std::unique_lock<FairLock>;

void check_column(const void* data, std::size_t size, std::size_t expected, const char* argument) {
  if (data == nullptr || size == expected) return;
  throw ShapeError(argument, std::to_string(expected) + " values", std::to_string(size));
}

Contest contest_of(const Bm25Query& query, std::size_t size) {
  check_bm25(query.rule);
  check_near(query.near);
  if (query.k < 1) throw ValueError("k", "at least 1", std::to_string(query.k));
  if (query.limit < -1 || (query.limit >= 0 && static_cast<std::uint64_t>(query.limit) > size)) {
    throw ValueError("limit", "0 to " + std::to_string(size) + " slots",
                     std::to_string(query.limit));
  }
  const std::size_t limit = query.limit < 0 ? size : static_cast<std::size_t>(query.limit);
  check_column(query.newness.data, query.newness.size, limit, "newness");
  check_column(query.mask.data, query.mask.size, limit, "mask");
  return {query.newness, query.mask, limit, static_cast<std::size_t>(query.k), query.near};
}

}  // namespace

std::size_t Postings::append(Span<const std::uint64_t> term_ids,
                             Span<const std::int64_t> text_ends) {
  const std::lock_guard<std::mutex> turn(writer_);
  const Writing lock(lock_);
  return index_.append(term_ids, text_ends);
}

std::size_t Postings::tombstone(Span<const std::int64_t> slots) {
  const std::lock_guard<std::mutex> turn(writer_);
  const Writing lock(lock_);
  const std::size_t before = index_.live();
  index_.tombstone(slots);
  return before - index_.live();
}

std::vector<std::int64_t> Postings::compact() {
  std::vector<std::int64_t> old_to_new;
  const std::lock_guard<std::mutex> turn(writer_);
  // No writer but this thread: reading needs no lock, and the old index goes after the new one
  // is in place.
  InvertedIndex other = index_.compacted(old_to_new);
  {
    const Writing lock(lock_);
    std::swap(index_, other);
  }
  return old_to_new;
}

std::size_t Postings::size() const {
  const Reading lock(lock_);
  return index_.size();
}

std::size_t Postings::live() const {
  const Reading lock(lock_);
  return index_.live();
}

std::size_t Postings::bytes() const {
  const Reading lock(lock_);
  return index_.bytes();
}

std::vector<std::int64_t> Postings::document_frequency(Span<const std::uint64_t> terms) const {
  const Reading lock(lock_);
  std::vector<std::int64_t> counts;
  counts.reserve(terms.size);
  for (const std::uint64_t id : terms) {
    const std::uint32_t term = index_.find(id);
    const std::size_t texts = term == IndexMap::kAbsent ? 0 : index_.live_texts(term);
    counts.push_back(static_cast<std::int64_t>(texts));
  }
  return counts;
}

std::vector<double> Postings::idf(Span<const std::uint64_t> terms) const {
  const Reading lock(lock_);
  std::vector<double> values;
  values.reserve(terms.size);
  for (const std::uint64_t id : terms) {
    const std::uint32_t term = index_.find(id);
    const std::size_t texts = term == IndexMap::kAbsent ? 0 : index_.live_texts(term);
    values.push_back(bm25_idf(index_.live(), texts));
  }
  return values;
}

RankedTexts Postings::top(Span<const std::uint64_t> cue, const Bm25Query& query) const {
  const Reading lock(lock_);
  RankedTexts out;
  rank_bm25(index_, cue, query.rule, contest_of(query, index_.size()), out);
  return out;
}

std::vector<double> Postings::score(Span<const std::uint64_t> terms, const Bm25& rule,
                                    Span<const std::int64_t> slots) const {
  check_bm25(rule);
  const Reading lock(lock_);
  index_.check_slots(slots);
  return score_bm25(index_, terms, rule, slots);
}

PlacedMatches Postings::preceding(Span<const std::uint64_t> cue, const Matches& matches,
                                  std::size_t k, const Precedence& rule) const {
  check_column(matches.scores.data, matches.scores.size, matches.slots.size, "scores");
  check_column(matches.newness.data, matches.newness.size, matches.slots.size, "newness");
  check_precedence(rule);
  const Reading lock(lock_);
  index_.check_slots(matches.slots);
  TopK best(wanted_of(k, rule));
  for (std::size_t i = 0; i < matches.slots.size; ++i) {
    if (!(matches.scores[i] > 0.0)) continue;
    // Small integers are exact in double.
    best.offer({matches.scores[i], matches.newness[i], matches.slots[i], static_cast<double>(i)});
  }
  const std::vector<Scored> first = std::move(best).take();
  PlacedMatches placed;
  for (const Placed& one : ebb::preceding(index_, cue, {first.data(), first.size()}, k, rule)) {
    placed.matches.push_back(static_cast<std::int64_t>(one.match.dot));
    placed.scores.push_back(one.score);
  }
  return placed;
}

Ties Postings::tied(const TieSeed& seed, Span<const std::uint64_t> said, RowMask mask,
                    const TieRule& rule) const {
  const Reading lock(lock_);
  index_.check_slots({&seed.slot, 1});
  check_column(mask.data, mask.size, index_.size(), "mask");
  return ebb::tied(index_, seed, said, mask, rule);
}

BoundedRanking Postings::top_bounded(const BoundedQuestion& question,
                                     const RetainedColumns& columns,
                                     const BoundedRule& rule) const {
  check_bm25(question.bm25);
  check_precedence(rule.precedence);
  const Reading lock(lock_);
  check_column(columns.newness.data, columns.newness.size, index_.size(), "newness");
  check_column(question.mask.data, question.mask.size, index_.size(), "mask");
  index_.check_slots(question.slots);
  index_.check_slots(question.reached);
  return ebb::top_bounded(index_, question, columns, rule);
}

}  // namespace ebb
