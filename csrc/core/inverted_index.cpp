#include "core/inverted_index.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "core/bits.h"
#include "core/errors.h"
#include "core/ragged.h"

namespace ebb {

namespace {

constexpr std::size_t kMostTexts = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kLongest = std::numeric_limits<std::int32_t>::max();

void check_room(std::size_t size, Span<const std::int64_t> text_ends) {
  if (text_ends.size > kMostTexts - size) {
    throw ValueError("text_ends", "room for it below 2^32 texts", std::to_string(text_ends.size));
  }
  std::int64_t begin = 0;
  for (const std::int64_t end : text_ends) {
    if (end - begin > kLongest) {
      throw ValueError("text_ends", "texts of less than 2^31 terms", std::to_string(end - begin));
    }
    begin = end;
  }
}

// The distinct terms of some texts by number, with their counts.
struct CountedTexts {
  std::vector<std::int64_t> ends;
  std::vector<std::uint32_t> terms;
  std::vector<std::int32_t> counts;
  std::vector<std::uint64_t> lengths;

  SparseBatch batch() const {
    return {{ends.data(), ends.size()},
            {terms.data(), terms.size()},
            {counts.data(), counts.size()},
            {lengths.data(), lengths.size()}};
  }
};

CountedTexts counted(Span<const std::uint64_t> term_ids, Span<const std::int64_t> text_ends,
                     IndexMap& numbers) {
  CountedTexts texts;
  std::vector<std::uint64_t> sorted;
  std::size_t begin = 0;
  for (const std::int64_t text_end : text_ends) {
    const auto end = static_cast<std::size_t>(text_end);
    sorted.assign(term_ids.data + begin, term_ids.data + end);
    std::sort(sorted.begin(), sorted.end());
    for (auto run = sorted.begin(); run != sorted.end();) {
      const auto next =
          std::find_if(run, sorted.end(), [&](std::uint64_t id) { return id != *run; });
      texts.terms.push_back(numbers.insert(*run));
      texts.counts.push_back(static_cast<std::int32_t>(next - run));
      run = next;
    }
    texts.ends.push_back(static_cast<std::int64_t>(texts.terms.size()));
    texts.lengths.push_back(end - begin);
    begin = end;
  }
  return texts;
}

using Marks = std::array<std::uint64_t, SparseBlock::kMaxRows / 64>;

// How many of the marked rows hold a key.
std::size_t marked(const KeyRows& rows, const Marks& marks) {
  std::size_t count = 0;
  for (std::size_t w = 0; w < rows.once.size; ++w) count += count_bits(rows.once[w] & marks[w]);
  for (const std::uint16_t p : rows.postings) {
    count += marks[posting::row(p) / 64] >> (posting::row(p) % 64) & 1u;
  }
  return count;
}

}  // namespace

std::size_t InvertedIndex::append(Span<const std::uint64_t> term_ids,
                                  Span<const std::int64_t> text_ends) {
  check_partition(text_ends, term_ids.size, "text_ends");
  check_room(size(), text_ends);
  const std::size_t first = size();
  const std::size_t known = terms_.size();
  // Numbers given to new terms stay given when what follows fails: no text holds them.
  const CountedTexts texts = counted(term_ids, text_ends, terms_);
  // A scope that is loaded at once may get no more: it takes what it needs.
  if (terms_.size() > 2 * known) terms_.fit();
  live_texts_.grow(terms_.size());
  const Span<const std::uint32_t> held{texts.terms.data(), texts.terms.size()};
  live_texts_.add(held);
  try {
    rows_.append(texts.batch());
  } catch (...) {
    for (const std::uint32_t term : held) live_texts_.subtract(term, 1);
    throw;
  }
  live_length_ += term_ids.size;
  return first;
}

void InvertedIndex::tombstone(Span<const std::int64_t> slots) {
  check_slots(slots);
  std::vector<std::size_t> dying;
  for (const std::int64_t slot : slots) dying.push_back(static_cast<std::size_t>(slot));
  std::sort(dying.begin(), dying.end());
  for (auto slot = dying.begin(); slot != dying.end();) {
    const SparseBlock& block = rows_.blocks()[rows_.block_of(*slot)];
    Marks marks{};
    for (; slot != dying.end() && *slot < block.first() + block.rows(); ++slot) {
      if (!rows_.kill(*slot)) continue;
      const std::size_t row = *slot - block.first();
      marks[row / 64] |= std::uint64_t{1} << (row % 64);
      live_length_ -= block.value(row);
    }
    block.keys().each([&](std::size_t number, std::uint32_t term) {
      const std::size_t lost = marked(block.rows_of(number), marks);
      live_texts_.subtract(term, static_cast<std::uint32_t>(lost));
    });
  }
}

InvertedIndex InvertedIndex::compacted(std::vector<std::int64_t>& old_to_new) const {
  InvertedIndex fresh;
  std::vector<std::uint32_t> new_terms(live_texts_.size(), IndexMap::kAbsent);
  terms_.each([&](std::uint64_t id, std::uint32_t term) {
    // A term that got a number from an append that failed has none among the counts.
    if (term >= live_texts_.size() || live_texts_[term] == 0) return;
    new_terms[term] = fresh.terms_.insert(id);
  });
  fresh.terms_.fit();
  fresh.live_texts_.grow(fresh.terms_.size());
  for (std::size_t term = 0; term < new_terms.size(); ++term) {
    if (new_terms[term] != IndexMap::kAbsent) {
      fresh.live_texts_.set(new_terms[term], live_texts_[term]);
    }
  }
  fresh.rows_ = rows_.compacted(old_to_new, {new_terms.data(), new_terms.size()});
  fresh.live_length_ = live_length_;
  return fresh;
}

std::size_t InvertedIndex::bytes() const {
  return terms_.bytes() + live_texts_.bytes() + rows_.bytes();
}

double InvertedIndex::mean_length() const {
  return live() == 0 ? 0.0 : static_cast<double>(live_length_) / static_cast<double>(live());
}

void InvertedIndex::check_slots(Span<const std::int64_t> slots) const {
  for (const std::int64_t slot : slots) {
    if (slot < 0 || static_cast<std::uint64_t>(slot) >= size()) {
      throw ValueError("slots", "slots from 0 to below " + std::to_string(size()),
                       std::to_string(slot));
    }
  }
}

}  // namespace ebb
