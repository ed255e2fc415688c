// Which of several matches alike comes first: the newer one, or for the past the older.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/inverted_index.h"
#include "core/span.h"
#include "core/topk.h"

namespace ebb {

struct Precedence {
  std::size_t among = 0;  // how many of the best matches take part; 0: none, nothing changes
  double near = 1.0;      // in (0, 1]
  bool past = false;
};

// Throws ValueError.
void check_precedence(const Precedence& rule);

// Which match stands at each place, once those alike have changed places. The matches come best
// first; the first of them, as many as there are kinds, take part. Those of equal kind are alike,
// kind 0 is like no other. The first of them and all that score at least `near` times what it does
// make a group, and the first of the others begins the next. The places of a group go to its
// members by newness, the newest first (the past: last), equal ones as they came.
std::vector<std::size_t> exchanged(Span<const Scored> best, Span<const std::uint64_t> kinds,
                                   const Precedence& rule);

// A match, and the score of the place that it stands at.
struct Placed {
  Scored match;
  double score;
};
// The k best of matches that come best first: as many as are asked for here at least, where there
// are so many. Those are alike that hold the same of the cue's first 64 terms.
std::size_t wanted_of(std::size_t k, const Precedence& rule);
std::vector<Placed> preceding(const InvertedIndex& index, Span<const std::uint64_t> cue,
                              Span<const Scored> best, std::size_t k, const Precedence& rule);

}  // namespace ebb
