// BM25 over the live texts of one index.
//
//   score = sum over the distinct terms of the cue, in order of first occurrence, of
//           idf * tf / (tf + k1 * (1 - b + b * length / mean length))
//   idf   = ln(1 + (N - n + 0.5) / (n + 0.5)), never negative
//
// N texts are live, n of them hold the term. All in double, in this order, so a slot has one
// score whichever function gives it. Ranking goes block by block: small integers that bound the
// scores are added up first, and only texts that can still get in are scored; the result is that
// of scoring every text. It takes 112 KiB of its own, whatever the size of the index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/inverted_index.h"
#include "core/span.h"

namespace ebb {

struct Bm25 {
  double k1 = 1.2;  // finite, >= 0
  double b = 0.75;  // in [0, 1]
};

// Leaves out what is far behind: a score below share * s - spare, where s is the count-th best
// score. So the `count` best always stay. With a count of 0, or fewer scores, nothing is left out.
struct Near {
  std::size_t count = 0;
  double share = 0.0;  // in [0, 1]
  double spare = 0.0;  // finite, >= 0
};

// Which slots compete: those below `limit` that `mask` lets through. Of equal scores the larger
// newness wins, then the lower slot. Without newness the slot number stands for it.
struct Contest {
  Span<const std::int64_t> newness;  // one per slot below `limit`, or empty
  RowMask mask;
  std::size_t limit = 0;
  std::size_t k = 0;
  Near near;
};

struct RankedTexts {
  std::vector<std::int64_t> slots;
  std::vector<double> scores;
};

// Throws ValueError.
void check_bm25(const Bm25& rule);
void check_near(const Near& near);

double bm25_idf(std::size_t texts, std::size_t texts_with_term);

// Appends to `out` the at most k best slots with a score above 0, best first, as far as they are
// near.
void rank_bm25(const InvertedIndex& index, Span<const std::uint64_t> cue, const Bm25& rule,
               const Contest& contest, RankedTexts& out);

// The score of each of `slots` (in range): 0 where nothing matches and for tombstones.
std::vector<double> score_bm25(const InvertedIndex& index, Span<const std::uint64_t> cue,
                               const Bm25& rule, Span<const std::int64_t> slots);

}  // namespace ebb
