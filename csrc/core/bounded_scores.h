// The best of what a cue's words match and of what links and names bring up, by a bounded ranking
// to which nothing else adds.
//
//   familiarity = lexical * bm25 / idf / lexical
//   retention   = floor + (1 - floor) * R, R by the power law of decay.h
//   score       = (1 - (1 - familiarity) * (1 - min(cascade * activation, 1))) * retention
//
// in double, every step rounded once, in this order. Activation is what links brought and what
// term_ties.h reaches from the first match, whose own is its familiarity: their sum, 1 at most. The
// best then change places as precedence.h says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/bm25.h"
#include "core/decay.h"
#include "core/inverted_index.h"
#include "core/precedence.h"
#include "core/span.h"
#include "core/term_ties.h"

namespace ebb {

// A cue's distinct terms, and what its words match: slots, each once, the best match first, and
// the BM25 score of each. `named` are the terms of the names in the first match. What links
// reached: slots, each once, and the activation of each, in [0, 1].
struct BoundedQuestion {
  Span<const std::uint64_t> cue;
  Bm25 bm25;
  Span<const std::int64_t> slots;
  Span<const double> scores;
  Span<const std::uint64_t> named;
  RowMask mask;  // which slots a name may bring up
  Span<const std::int64_t> reached;
  Span<const double> activation;
};

// Columns by slot, of one length: strengths have the importance as their base.
struct RetainedColumns {
  Strengths important;
  Elapsed idle;
  Span<const std::int64_t> newness;
};

struct BoundedRule {
  double lexical = 1.0;  // above 0
  double idf = 0.0;      // above 0 where anything matched
  double cascade = 0.0;
  double floor = 1.0;
  PowerForgetting law;
  TieRule ties;
  Precedence precedence;
  std::size_t k = 1;
};

// A value per slot, best first.
struct BoundedRanking {
  std::vector<std::int64_t> slots;
  std::vector<double> scores;      // of the places
  std::vector<double> own_scores;  // none where they are those of the places
  std::vector<double> familiarity;
  std::vector<double> activation;  // none where nothing was activated
  std::vector<double> retrievability;
  std::vector<double> retention;
};

// The k best whose score is above 0; ties: newer, then lower slot. The shape of the question is
// the caller's to check. Throws ValueError as power_retention.
BoundedRanking top_bounded(const InvertedIndex& index, const BoundedQuestion& question,
                           const RetainedColumns& columns, const BoundedRule& rule);

}  // namespace ebb
