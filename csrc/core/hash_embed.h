// The word-hash embedder: signed word counts per bucket, and as rows divided by their Euclidean
// norm.
//
// Counts are integers, so their squares add up exactly in any order (for texts of fewer than 2^26
// words); count / norm is done in double and then rounded to float. A row therefore does not
// depend on the order of words, on the batch, or on the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/span.h"
#include "core/text.h"
#include "core/word_hash.h"

namespace ebb {

constexpr std::size_t kMaxDim = std::size_t{1} << 24;

// Fill `out`, one row of `dim` floats per text, for dim in 1..kMaxDim. A text without words, or
// whose signed counts cancel to nothing, gets zeros; every other row has length 1.
void embed_texts(Span<const Text> texts, const Split& split, std::size_t dim, Sign sign,
                 float* out);

// The same rows before they are scaled, as their non-zero counts: text t has the buckets up to
// text_ends[t], each once, in order of first occurrence.
struct SparseCounts {
  std::vector<std::uint32_t> buckets;
  std::vector<std::int32_t> counts;
  std::vector<std::int64_t> text_ends;
};

SparseCounts count_texts(Span<const Text> texts, const Split& split, std::size_t dim, Sign sign);

}  // namespace ebb
