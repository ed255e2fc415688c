#include "core/lexicon.h"

#include <mutex>
#include <string>
#include <unordered_set>

#include "core/errors.h"

namespace ebb {

std::vector<std::size_t> Lexicon::unknown(Span<const std::uint64_t> forms) {
  if (size() > capacity_) clear();
  std::vector<std::size_t> positions;
  std::unordered_set<std::uint64_t, AsIs> seen;
  const std::shared_lock lock(mutex_);
  for (std::size_t i = 0; i < forms.size; ++i) {
    if (terms_.count(forms[i]) == 0 && seen.insert(forms[i]).second) positions.push_back(i);
  }
  return positions;
}

void Lexicon::learn(Span<const Span<const char>> forms, Span<const Span<const char>> terms) {
  if (forms.size != terms.size) {
    throw ShapeError("terms", std::to_string(forms.size) + " terms, one per form",
                     std::to_string(terms.size));
  }
  const std::vector<std::uint64_t> keys = hash_words(forms);
  const std::vector<std::uint64_t> ids = hash_words(terms);
  const std::unique_lock lock(mutex_);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    terms_[keys[i]] = terms[i].empty() ? Term{} : Term{ids[i]};
  }
}

std::optional<Terms> Lexicon::terms(const Terms& forms) const {
  Terms found;
  found.ids.reserve(forms.ids.size());
  found.text_ends.reserve(forms.text_ends.size());
  std::size_t form = 0;
  const std::shared_lock lock(mutex_);
  for (const std::int64_t end : forms.text_ends) {
    for (; form < static_cast<std::size_t>(end); ++form) {
      const auto entry = terms_.find(forms.ids[form]);
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
