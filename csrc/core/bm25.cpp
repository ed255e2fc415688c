#include "core/bm25.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/elementary.h"
#include "core/errors.h"
#include "core/topk.h"

namespace ebb {

namespace {

constexpr std::size_t kBlock = 4096;

struct CueTerm {
  std::uint32_t term;
  double idf;
  Span<const Posting> postings;
  std::size_t next = 0;  // first posting not yet read
};

// The terms of the cue that some live text holds, once each, in order of first occurrence.
std::vector<CueTerm> cue_terms(const InvertedIndex& index, Span<const std::uint64_t> cue) {
  std::vector<CueTerm> terms;
  IndexMap seen;
  for (const std::uint64_t id : cue) {
    const std::size_t distinct = seen.size();
    if (seen.insert(id) != distinct) continue;
    const std::uint32_t term = index.find(id);
    if (term == IndexMap::kAbsent || index.live_texts(term) == 0) continue;
    terms.push_back({term, bm25_idf(index.live(), index.live_texts(term)), index.postings(term)});
  }
  return terms;
}

// k1 * (1 - b + b * length / mean); short lengths are worked out once per call.
class LengthNorm {
 public:
  LengthNorm(const Bm25& rule, double mean) : rule_(rule), mean_(mean) {}

  double operator()(std::uint32_t length) {
    if (length >= known_.size()) return compute(length);
    double& norm = known_[length];
    if (norm == 0.0) norm = compute(length);
    return norm;
  }

 private:
  double compute(std::uint32_t length) const {
    return rule_.k1 * (1.0 - rule_.b + rule_.b * static_cast<double>(length) / mean_);
  }

  Bm25 rule_;
  double mean_;
  std::array<double, 256> known_{};
};

double contribution(double idf, std::uint32_t count, double norm) {
  const auto tf = static_cast<double>(count);
  return idf * tf / (tf + norm);
}

class BlockSums {
 public:
  BlockSums() : sums_(kBlock, 0.0), touched_(kBlock + 1) {}

  void add(std::uint32_t offset, double amount) {
    // Always write, advance only on a first touch: no branch to mispredict. An amount of 0 must
    // not count as one, or a slot could be listed more than once.
    touched_[count_] = offset;
    count_ += static_cast<std::size_t>(sums_[offset] == 0.0 && amount > 0.0);
    sums_[offset] += amount;
  }

  // Calls visit(offset, sum) for each sum above 0 and leaves all at 0.
  template <typename Visit>
  void drain(Visit visit) {
    for (std::size_t i = 0; i < count_; ++i) {
      visit(touched_[i], sums_[touched_[i]]);
      sums_[touched_[i]] = 0.0;
    }
    count_ = 0;
  }

 private:
  std::vector<double> sums_;
  std::vector<std::uint32_t> touched_;
  std::size_t count_ = 0;
};

// The block of the first posting not yet read, or kNone.
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
std::size_t next_block(const std::vector<CueTerm>& terms) {
  std::size_t block = kNone;
  for (const CueTerm& term : terms) {
    if (term.next < term.postings.size) {
      block = std::min<std::size_t>(block, term.postings[term.next].slot / kBlock);
    }
  }
  return block;
}

Scored candidate(const Contest& contest, std::size_t slot, double score) {
  const auto number = static_cast<std::int64_t>(slot);
  return {score, contest.newness.data == nullptr ? number : contest.newness[slot], number, 0.0F};
}

}  // namespace

void check_bm25(const Bm25& rule) {
  if (!(rule.k1 >= 0.0 && rule.k1 <= std::numeric_limits<double>::max())) {
    throw ValueError("k1", "a finite number of at least 0", std::to_string(rule.k1));
  }
  if (!(rule.b >= 0.0 && rule.b <= 1.0)) {
    throw ValueError("b", "a number from 0 to 1", std::to_string(rule.b));
  }
}

double bm25_idf(std::size_t texts, std::size_t texts_with_term) {
  const auto all = static_cast<double>(texts);
  const auto with = static_cast<double>(texts_with_term);
  return log(1.0 + (all - with + 0.5) / (with + 0.5));
}

void rank_bm25(const InvertedIndex& index, Span<const std::uint64_t> cue, const Bm25& rule,
               const Contest& contest, RankedTexts& out) {
  std::vector<CueTerm> terms = cue_terms(index, cue);
  if (terms.empty()) return;
  LengthNorm norm(rule, index.mean_length());
  BlockSums sums;
  TopK best(contest.k);
  for (std::size_t block = next_block(terms); block != kNone; block = next_block(terms)) {
    const std::size_t begin = block * kBlock;
    if (begin >= contest.limit) break;
    for (CueTerm& term : terms) {
      while (term.next < term.postings.size && term.postings[term.next].slot < begin + kBlock) {
        const Posting& posting = term.postings[term.next++];
        sums.add(static_cast<std::uint32_t>(posting.slot - begin),
                 contribution(term.idf, posting.count, norm(index.length(posting.slot))));
      }
    }
    sums.drain([&](std::uint32_t offset, double score) {
      const std::size_t slot = begin + offset;
      if (score < best.entry_score() || slot >= contest.limit) return;
      if (!index.is_live(slot) || !contest.mask.allows(slot)) return;
      best.offer(candidate(contest, slot, score));
    });
  }
  for (const Scored& text : std::move(best).take()) {
    out.slots.push_back(text.slot);
    out.scores.push_back(text.score);
  }
}

namespace {

double score_slot(const InvertedIndex& index, const std::vector<CueTerm>& terms, LengthNorm& norm,
                  std::size_t slot) {
  const Span<const std::uint32_t> held = index.terms_of(slot);
  double score = 0.0;
  for (const CueTerm& term : terms) {
    if (std::find(held.begin(), held.end(), term.term) == held.end()) continue;
    const Posting* posting =
        std::lower_bound(term.postings.begin(), term.postings.end(), slot,
                         [](const Posting& p, std::size_t wanted) { return p.slot < wanted; });
    score += contribution(term.idf, posting->count, norm(index.length(slot)));
  }
  return score;
}

}  // namespace

std::vector<double> score_bm25(const InvertedIndex& index, Span<const std::uint64_t> cue,
                               const Bm25& rule, Span<const std::int64_t> slots) {
  const std::vector<CueTerm> terms = cue_terms(index, cue);
  LengthNorm norm(rule, index.mean_length());
  std::vector<double> scores;
  scores.reserve(slots.size);
  for (const std::int64_t slot : slots) {
    const auto at = static_cast<std::size_t>(slot);
    scores.push_back(index.is_live(at) ? score_slot(index, terms, norm, at) : 0.0);
  }
  return scores;
}

}  // namespace ebb
