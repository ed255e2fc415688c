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
  found.ids.resize(words.ids.size());  // no word gives more than one
  found.text_ends.reserve(words.text_ends.size() / 2);
  std::uint64_t* out = found.ids.data();
  const std::uint64_t* word = words.ids.data();
  const std::shared_lock lock(mutex_);
  for (std::size_t end = 0; end < words.text_ends.size(); end += 2) {
    const std::uint64_t* const forms = word;
    const std::uint64_t* const forms_end = words.ids.data() + words.text_ends[end];
    const std::uint64_t* const text_end = words.ids.data() + words.text_ends[end + 1];
    const std::uint64_t* const begin = out;
    for (; word != forms_end; ++word) {
      const std::uint32_t index = forms_.find(*word);
      if (index == IndexMap::kAbsent) return std::nullopt;
      *out = terms_[index].id;
      if (!terms_[index].stop_word) ++out;
    }
    for (; word != text_end; ++word) *out++ = *word;
    if (out == begin) {
      for (word = forms; word != text_end; ++word) *out++ = terms_[forms_.find(*word)].id;
    }
    found.text_ends.push_back(out - found.ids.data());
  }
  found.ids.resize(static_cast<std::size_t>(out - found.ids.data()));
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
