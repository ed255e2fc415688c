// The word-hash embedder: signed word counts per bucket, divided by their Euclidean norm.
//
// Counts are integers, so their squares add up exactly in any order (for texts of fewer than 2^26
// words); count / norm is done in double and then rounded to float. The result therefore does not
// depend on the order of words, on the batch, or on the machine.
#pragma once

#include <cstddef>

#include "core/span.h"
#include "core/word_hash.h"

namespace ebb {

constexpr std::size_t kMaxDim = std::size_t{1} << 24;

// Fill `out`, one row of `dim` floats per text, for dim in 1..kMaxDim. A text without words, or
// whose signed counts cancel to nothing, gets zeros; every other row has length 1.
void embed_words(const WordBatch& batch, std::size_t dim, Sign sign, float* out);

}  // namespace ebb
