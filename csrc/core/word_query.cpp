#include "core/word_query.h"

#include <string>

#include "core/errors.h"

namespace ebb {

// 1 / sqrt(n) of the squared norms that most texts have.
const std::array<double, WordQuery::kRoots>& WordQuery::inverse_roots() {
  static const std::array<double, kRoots> roots = [] {
    std::array<double, kRoots> made{};
    for (std::size_t n = 1; n < kRoots; ++n) made[n] = 1.0 / std::sqrt(static_cast<double>(n));
    return made;
  }();
  return roots;
}

WordQuery::WordQuery(const WordCounts& text, std::size_t dim) {
  const std::vector<std::uint64_t> squares = checked_squares(text, dim);
  if (squares.size() != 1) {
    throw ShapeError("query", "one text", std::to_string(squares.size()) + " texts");
  }
  buckets_.assign(text.buckets.begin(), text.buckets.end());
  counts_.assign(text.counts.begin(), text.counts.end());
  squares_ = static_cast<double>(squares[0]);
  inverse_norm_ = squares[0] == 0 ? 0.0 : 1.0 / std::sqrt(squares_);
}

void WordQuery::find_in(const SparseBlock& block, std::vector<Held>& held) const {
  held.clear();
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const KeyRows rows = block.find(buckets_[i]);
    if (!rows.empty() && counts_[i] != 0) held.push_back({counts_[i], rows});
  }
}

}  // namespace ebb
