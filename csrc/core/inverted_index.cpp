#include "core/inverted_index.h"

#include <algorithm>
#include <limits>

#include "core/errors.h"
#include "core/ragged.h"

namespace ebb {

namespace {

constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();

void check_room(std::size_t size, Span<const std::int64_t> text_ends) {
  if (text_ends.size > kMost - size) {
    throw ValueError("text_ends", "room for it below 2^32 texts", std::to_string(text_ends.size));
  }
  std::int64_t begin = 0;
  for (const std::int64_t end : text_ends) {
    if (static_cast<std::uint64_t>(end - begin) > kMost) {
      throw ValueError("text_ends", "texts of less than 2^32 terms", std::to_string(end - begin));
    }
    begin = end;
  }
}

}  // namespace

std::size_t InvertedIndex::append(Span<const std::uint64_t> term_ids,
                                  Span<const std::int64_t> text_ends) {
  check_partition(text_ends, term_ids.size, "text_ends");
  check_room(size(), text_ends);
  const std::size_t first = size();
  std::vector<std::uint64_t> sorted;
  try {
    std::size_t begin = 0;
    for (const std::int64_t text_end : text_ends) {
      const auto end = static_cast<std::size_t>(text_end);
      append_text({term_ids.data + begin, end - begin}, sorted);
      begin = end;
    }
  } catch (...) {
    truncate(first);
    throw;
  }
  return first;
}

void InvertedIndex::append_text(Span<const std::uint64_t> term_ids,
                                std::vector<std::uint64_t>& sorted) {
  sorted.assign(term_ids.begin(), term_ids.end());
  std::sort(sorted.begin(), sorted.end());
  const auto slot = static_cast<std::uint32_t>(size());
  for (auto run = sorted.begin(); run != sorted.end();) {
    const auto next = std::find_if(run, sorted.end(), [&](std::uint64_t id) { return id != *run; });
    append_posting(*run, {slot, static_cast<std::uint32_t>(next - run)});
    run = next;
  }
  forward_ends_.push_back(forward_.size());
  lengths_.push_back(static_cast<std::uint32_t>(term_ids.size));
  alive_.push_back(1);
  live_length_ += term_ids.size;
  ++live_;
}

void InvertedIndex::append_posting(std::uint64_t term_id, Posting posting) {
  std::uint32_t term = terms_.find(term_id);
  if (term == IndexMap::kAbsent) {
    lists_.push_back({term_id, {}, 0});
    term = terms_.insert(term_id);
  }
  forward_.push_back(term);
  TermList& list = lists_[term];
  const std::size_t capacity = list.postings.capacity();
  list.postings.push_back(posting);
  posting_capacity_ += list.postings.capacity() - capacity;
  ++list.live;
}

// Takes back an append that threw half way. Each step of it may be missing for the last text.
void InvertedIndex::truncate(std::size_t size) {
  const std::size_t begin = forward_begin(size);
  for (std::size_t i = begin; i < forward_.size(); ++i) {
    TermList& list = lists_[forward_[i]];
    if (list.postings.empty() || list.postings.back().slot < size) continue;
    list.postings.pop_back();
    --list.live;
  }
  for (std::size_t slot = size; slot < alive_.size(); ++slot) {
    live_length_ -= lengths_[slot];
    --live_;
  }
  forward_.resize(begin);
  forward_ends_.resize(size);
  lengths_.resize(size);
  alive_.resize(size);
  lists_.erase(lists_.begin() + static_cast<std::ptrdiff_t>(terms_.size()), lists_.end());
}

void InvertedIndex::tombstone(Span<const std::int64_t> slots) {
  check_slots(slots);
  for (const std::int64_t value : slots) {
    const auto slot = static_cast<std::size_t>(value);
    if (!is_live(slot)) continue;
    alive_[slot] = 0;
    live_length_ -= lengths_[slot];
    --live_;
    for (const std::uint32_t term : terms_of(slot)) --lists_[term].live;
  }
}

InvertedIndex InvertedIndex::compacted(std::vector<std::int64_t>& old_to_new) const {
  InvertedIndex fresh;
  old_to_new.assign(size(), -1);
  std::vector<std::uint32_t> new_term(lists_.size(), IndexMap::kAbsent);
  for (std::size_t slot = 0; slot < size(); ++slot) {
    if (!is_live(slot)) continue;
    old_to_new[slot] = static_cast<std::int64_t>(fresh.size());
    for (const std::uint32_t term : terms_of(slot)) {
      if (new_term[term] == IndexMap::kAbsent) {
        new_term[term] = fresh.terms_.insert(lists_[term].id);
        fresh.lists_.push_back({lists_[term].id, {}, lists_[term].live});
        fresh.lists_.back().postings.reserve(lists_[term].live);
        fresh.posting_capacity_ += fresh.lists_.back().postings.capacity();
      }
      fresh.forward_.push_back(new_term[term]);
    }
    fresh.forward_ends_.push_back(fresh.forward_.size());
    fresh.lengths_.push_back(lengths_[slot]);
    fresh.alive_.push_back(1);
  }
  for (std::size_t term = 0; term < lists_.size(); ++term) {
    for (const Posting& posting : lists_[term].postings) {
      const std::int64_t slot = old_to_new[posting.slot];
      if (slot < 0) continue;
      fresh.lists_[new_term[term]].postings.push_back(
          {static_cast<std::uint32_t>(slot), posting.count});
    }
  }
  fresh.live_ = live_;
  fresh.live_length_ = live_length_;
  return fresh;
}

std::size_t InvertedIndex::bytes() const {
  return terms_.bytes() + lists_.capacity() * sizeof(TermList) +
         posting_capacity_ * sizeof(Posting) + forward_.capacity() * sizeof(std::uint32_t) +
         forward_ends_.capacity() * sizeof(std::uint64_t) +
         lengths_.capacity() * sizeof(std::uint32_t) + alive_.capacity();
}

double InvertedIndex::mean_length() const {
  return live_ == 0 ? 0.0 : static_cast<double>(live_length_) / static_cast<double>(live_);
}

std::size_t InvertedIndex::forward_begin(std::size_t slot) const {
  return slot == 0 ? 0 : static_cast<std::size_t>(forward_ends_[slot - 1]);
}

Span<const std::uint32_t> InvertedIndex::terms_of(std::size_t slot) const {
  const std::size_t begin = forward_begin(slot);
  return {forward_.data() + begin, static_cast<std::size_t>(forward_ends_[slot]) - begin};
}

Span<const Posting> InvertedIndex::postings(std::uint32_t term) const {
  return {lists_[term].postings.data(), lists_[term].postings.size()};
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
