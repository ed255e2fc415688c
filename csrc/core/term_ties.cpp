#include "core/term_ties.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace ebb {

namespace {

constexpr std::size_t kBits = 64;
constexpr std::size_t kPair = 2;

bool contains(Span<const std::uint64_t> terms, std::uint64_t term) {
  return std::find(terms.begin(), terms.end(), term) != terms.end();
}

// Calls visit(slot) for every live slot that holds a term.
template <typename Visit>
void each_holder(const InvertedIndex& index, std::uint32_t term, Visit visit) {
  const SparseRows& rows = index.rows();
  for (const SparseBlock& block : rows.blocks()) {
    block.find(term).each([&](std::size_t row, std::int32_t) {
      const std::size_t slot = block.first() + row;
      if (rows.is_live(slot)) visit(slot);
    });
  }
}

// The rows of one block that hold each of some terms.
class Holders {
 public:
  void open(const SparseBlock& block, Span<const std::uint32_t> terms) {
    count_ = terms.size;
    for (std::size_t t = 0; t < count_; ++t) {
      rows_[t] = terms[t] == IndexMap::kAbsent ? KeyRows{} : block.find(terms[t]);
    }
  }

  std::uint64_t bits(std::size_t row) const {
    std::uint64_t found = 0;
    for (std::size_t t = 0; t < count_; ++t) {
      const bool held = !rows_[t].empty() && rows_[t].count_of(row) != 0;
      found |= static_cast<std::uint64_t>(held) << t;
    }
    return found;
  }

 private:
  std::array<KeyRows, kBits> rows_;
  std::size_t count_ = 0;
};

}  // namespace

std::vector<std::uint64_t> matched_terms(const InvertedIndex& index,
                                         Span<const std::uint64_t> terms,
                                         Span<const std::int64_t> slots) {
  std::vector<std::uint32_t> numbers;
  for (std::size_t t = 0; t < std::min(terms.size, kBits); ++t) {
    numbers.push_back(index.find(terms[t]));
  }
  // Block by block: each looks its terms up once.
  std::vector<std::size_t> places(slots.size);
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::sort(places.begin(), places.end(),
            [&](std::size_t a, std::size_t b) { return slots[a] < slots[b]; });
  const SparseRows& rows = index.rows();
  std::vector<std::uint64_t> bits(slots.size);
  const SparseBlock* block = nullptr;
  Holders holders;
  for (const std::size_t place : places) {
    const auto slot = static_cast<std::size_t>(slots[place]);
    if (block == nullptr || slot >= block->first() + block->rows()) {
      block = &rows.blocks()[rows.block_of(slot)];
      holders.open(*block, {numbers.data(), numbers.size()});
    }
    bits[place] = holders.bits(slot - block->first());
  }
  return bits;
}

Ties tied(const InvertedIndex& index, const TieSeed& seed, Span<const std::uint64_t> said,
          RowMask mask, const TieRule& rule) {
  std::vector<std::pair<std::int64_t, double>> found;
  for (const std::uint64_t term : seed.terms) {
    if (contains(said, term)) continue;
    const std::uint32_t number = index.find(term);
    const std::size_t texts = number == IndexMap::kAbsent ? 0 : index.live_texts(number);
    if (texts < kPair || texts > rule.most) continue;
    const double factor = rule.weight * static_cast<double>(kPair) / static_cast<double>(texts);
    const double activation = std::min(seed.activation * factor, 1.0);
    each_holder(index, number, [&](std::size_t slot) {
      const auto own = static_cast<std::int64_t>(slot);
      if (own != seed.slot && mask.allows(slot)) found.emplace_back(own, -activation);
    });
  }
  std::sort(found.begin(), found.end());
  Ties ties;
  for (const auto& [slot, negated] : found) {
    if (!ties.slots.empty() && ties.slots.back() == slot) continue;
    ties.slots.push_back(slot);
    ties.activation.push_back(-negated);
  }
  return ties;
}

}  // namespace ebb
