#include "core/lexicon.h"

#include <mutex>
#include <string>
#include <utility>

#include "core/errors.h"

namespace ebb {

Terms terms_as_they_are(Terms words) {
  std::vector<std::int64_t>& ends = words.text_ends;
  for (std::size_t t = 0; t < ends.size() / 2; ++t) ends[t] = ends[2 * t + 1];
  ends.resize(ends.size() / 2);
  return words;
}

Lexicon::Lexicon(std::size_t capacity, Span<const Span<const char>> stop_words)
    : capacity_(capacity) {
  for (const std::uint64_t form : hash_words(stop_words)) stop_words_.insert(form);
}

std::vector<std::size_t> Lexicon::unknown(const Terms& words) {
  if (size() > capacity_) clear();
  std::vector<std::size_t> positions;
  IndexMap seen;
  const std::shared_lock lock(mutex_);
  std::size_t i = 0;
  for (std::size_t end = 0; end < words.text_ends.size(); end += 2) {
    for (; i < static_cast<std::size_t>(words.text_ends[end]); ++i) {
      const std::uint64_t form = words.ids[i];
      const bool known = forms_.find(form) != IndexMap::kAbsent;
      if (!known && seen.insert(form) == positions.size()) positions.push_back(i);
    }
    i = static_cast<std::size_t>(words.text_ends[end + 1]);
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

std::optional<Terms> Lexicon::terms(const Terms& words) const {
  Terms found;
  found.ids.reserve(words.ids.size());
  found.text_ends.reserve(words.text_ends.size() / 2);
  const std::uint64_t* word = words.ids.data();
  const std::shared_lock lock(mutex_);
  for (std::size_t end = 0; end < words.text_ends.size(); end += 2) {
    const std::uint64_t* const first_form = word;
    const std::uint64_t* const last_form = words.ids.data() + words.text_ends[end];
    const std::size_t begin = found.ids.size();
    for (; word != last_form; ++word) {
      const std::uint32_t index = forms_.find(*word);
      if (index == IndexMap::kAbsent) return std::nullopt;
      if (!terms_[index].stop_word) found.ids.push_back(terms_[index].id);
    }
    word = words.ids.data() + words.text_ends[end + 1];
    found.ids.insert(found.ids.end(), last_form, word);
    if (found.ids.size() == begin) {
      for (const std::uint64_t* form = first_form; form != last_form; ++form) {
        found.ids.push_back(terms_[forms_.find(*form)].id);
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
