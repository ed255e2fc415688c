// What the terms of an inverted index say of single texts: which terms of a cue they hold, and
// which other texts share a rare term with one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/inverted_index.h"
#include "core/span.h"

namespace ebb {

// Bit t of a slot (in range) says whether it holds terms[t]; terms beyond the first 64 are not
// looked at.
std::vector<std::uint64_t> matched_terms(const InvertedIndex& index,
                                         Span<const std::uint64_t> terms,
                                         Span<const std::int64_t> slots);

// A text that activation comes from: its slot (in range), how much it has, and the terms that it
// passes it on through.
struct TieSeed {
  std::int64_t slot = 0;
  double activation = 0.0;  // in [0, 1]
  Span<const std::uint64_t> terms;
};

struct TieRule {
  double weight = 0.0;   // of a term that two texts hold
  std::size_t most = 0;  // texts beyond which a term says nothing
};

// What was reached, ascending by slot, each once.
struct Ties {
  std::vector<std::int64_t> slots;
  std::vector<double> activation;
};

// Each other live slot that the mask allows and that shares a term with the seed which is none of
// `said` and held by 2 to `most` live texts n: min(1, activation * (weight * 2 / n)), the greatest
// over terms.
Ties tied(const InvertedIndex& index, const TieSeed& seed, Span<const std::uint64_t> said,
          RowMask mask, const TieRule& rule);

}  // namespace ebb
