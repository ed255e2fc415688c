#include "core/lexicon.h"

#include <mutex>
#include <string>
#include <utility>

#include "core/errors.h"

namespace ebb {

Lexicon::Lexicon(std::size_t capacity, Span<const Span<const char>> stop_words)
    : capacity_(capacity) {
  for (const std::uint64_t form : hash_words(stop_words)) stop_words_.insert(form);
}

std::vector<std::size_t> Lexicon::unknown(Span<const std::uint64_t> forms) {
  if (size() > capacity_) clear();
  std::vector<std::size_t> positions;
  IndexMap seen;
  const std::shared_lock lock(mutex_);
  for (std::size_t i = 0; i < forms.size; ++i) {
    const bool known = forms_.find(forms[i]) != IndexMap::kAbsent;
    if (!known && seen.insert(forms[i]) == positions.size()) positions.push_back(i);
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
    // The place of a new form's term first: a form never stands there without one.
    if (terms_.size() == forms_.size()) terms_.emplace_back();
    const bool stop_word = stop_words_.find(keys[i]) != IndexMap::kAbsent;
    terms_[forms_.insert(keys[i])] = {ids[i], stop_word};
  }
}

std::optional<Terms> Lexicon::terms(const Terms& forms) const {
  Terms found;
  found.ids.reserve(forms.ids.size());
  found.text_ends.reserve(forms.text_ends.size());
  std::size_t form = 0;
  const std::shared_lock lock(mutex_);
  for (const std::int64_t end : forms.text_ends) {
    const std::size_t first = form;
    const std::size_t begin = found.ids.size();
    for (; form < static_cast<std::size_t>(end); ++form) {
      const std::uint32_t index = forms_.find(forms.ids[form]);
      if (index == IndexMap::kAbsent) return std::nullopt;
      if (!terms_[index].stop_word) found.ids.push_back(terms_[index].id);
    }
    if (found.ids.size() == begin) {
      for (std::size_t i = first; i < form; ++i) {
        found.ids.push_back(terms_[forms_.find(forms.ids[i])].id);
      }
    }
    found.text_ends.push_back(static_cast<std::int64_t>(found.ids.size()));
  }
  return found;
}

std::size_t Lexicon::size() const {
  const std::shared_lock lock(mutex_);
  return forms_.size();
}

void Lexicon::clear() {
  // The old tables are taken out under the lock and freed after it.
  IndexMap forms;
  std::vector<Term> terms;
  const std::unique_lock lock(mutex_);
  std::swap(forms, forms_);
  terms.swap(terms_);
}

}  // namespace ebb
