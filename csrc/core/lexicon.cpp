#include "core/lexicon.h"

#include <mutex>
#include <string>
#include <unordered_set>

#include "core/errors.h"
#include "core/ragged.h"
#include "core/word_hash.h"

namespace ebb {

std::vector<std::size_t> Lexicon::unknown(const WordBatch& batch) {
  const std::vector<std::uint64_t> keys = hash_words(batch);
  if (size() > capacity_) clear();
  std::vector<std::size_t> positions;
  std::unordered_set<std::uint64_t, AsIs> seen;
  const std::shared_lock lock(mutex_);
  for (std::size_t word = 0; word < keys.size(); ++word) {
    if (terms_.count(keys[word]) == 0 && seen.insert(keys[word]).second) positions.push_back(word);
  }
  return positions;
}

void Lexicon::learn(const WordBatch& forms, const WordBatch& terms) {
  if (forms.word_ends.size != terms.word_ends.size) {
    throw ShapeError("terms", std::to_string(forms.word_ends.size) + " terms, one per form",
                     std::to_string(terms.word_ends.size));
  }
  const std::vector<std::uint64_t> keys = hash_words(forms);
  const std::vector<std::uint64_t> ids = hash_words(terms);
  const std::unique_lock lock(mutex_);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    terms_[keys[i]] = word_at(terms, i).empty() ? Term{} : Term{ids[i]};
  }
}

std::optional<Terms> Lexicon::terms(const WordBatch& batch) const {
  const std::vector<std::uint64_t> keys = hash_words(batch);
  Terms found;
  found.ids.reserve(keys.size());
  found.text_ends.reserve(batch.text_ends.size);
  std::size_t word = 0;
  const std::shared_lock lock(mutex_);
  for (const std::int64_t end : batch.text_ends) {
    for (; word < static_cast<std::size_t>(end); ++word) {
      const auto entry = terms_.find(keys[word]);
      if (entry == terms_.end()) return std::nullopt;
      if (entry->second) found.ids.push_back(*entry->second);
    }
    found.text_ends.push_back(static_cast<std::int64_t>(found.ids.size()));
  }
  return found;
}

std::size_t Lexicon::size() const {
  const std::shared_lock lock(mutex_);
  return terms_.size();
}

void Lexicon::clear() {
  // The old table is taken out under the lock and freed after it.
  decltype(terms_) old;
  const std::unique_lock lock(mutex_);
  old.swap(terms_);
}

}  // namespace ebb
