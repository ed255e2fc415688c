// The best of what a cue's words match, by a bounded ranking to which nothing else adds.
//
//   familiarity = lexical * bm25 / idf / lexical
//   retention   = floor + (1 - floor) * R, R by the power law of decay.h
//   score       = (1 - (1 - familiarity)) * retention
//
// in double, every step rounded once, in this order: the bits of the general form, in which
// cascade takes part, where there is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/decay.h"
#include "core/span.h"

namespace ebb {

// Slots, each once, and the BM25 score of each.
struct MatchedTexts {
  Span<const std::int64_t> slots;
  Span<const double> bm25;
};

// Columns by slot, of one length: strengths have the importance as their base.
struct RetainedColumns {
  Strengths important;
  Elapsed idle;
  Span<const std::int64_t> newness;
};

struct BoundedRule {
  double lexical;  // above 0
  double idf;      // above 0 where anything matched
  double floor;
  PowerForgetting law;
  std::size_t k;  // at least 1
};

// A value per slot, best first.
struct BoundedRanking {
  std::vector<std::int64_t> slots;
  std::vector<double> scores;
  std::vector<double> familiarity;
  std::vector<double> retrievability;
  std::vector<double> retention;
};

// The k best whose score is above 0; ties: newer, then lower slot. Throws ValueError for a slot
// that is not there, and as power_retention.
BoundedRanking top_bounded(const MatchedTexts& matched, const RetainedColumns& columns,
                           const BoundedRule& rule);

}  // namespace ebb
