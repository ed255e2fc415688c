// What each word form means to the lexical index: a term, which a text leaves out for a stop word
// unless it has nothing else. Stemming is slow, so it is done once per distinct form; the core
// remembers the outcome, not the text.
//
// A form is known by its 64-bit hash, and a term's id is the 64-bit hash of the term (the low half
// of the MD5, see word_hash.h). Two forms of one lexicon collide with a chance below 1e-7.
//
// Threads: one shared_mutex, taken inside each call and never across two. A caller that needs
// unknown -> learn -> terms to hold together must keep other callers of `unknown` and `clear` out
// meanwhile: only these two forget.
#pragma once

#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "core/index_map.h"
#include "core/span.h"
#include "core/word_hash.h"

namespace ebb {

// Below, `words` are hashes as hash_texts gives them: forms, and words that are terms as they
// are.

// The terms of texts whose forms mean themselves.
Terms terms_as_they_are(Terms words);

class Lexicon {
 public:
  // More than a language's common words; what has no end (numbers, names) takes no more room.
  static constexpr std::size_t kCapacity = std::size_t{1} << 15;

  // The stop words are forms; they are never forgotten.
  explicit Lexicon(std::size_t capacity = kCapacity, Span<const Span<const char>> stop_words = {});

  // Positions of the forms that were not learnt yet: the first occurrence of each, in order.
  // Forgets everything first when more than `capacity` forms are held.
  std::vector<std::size_t> unknown(const Terms& words);

  // Learn that form i means term i. A form that is known is overwritten. Throws ShapeError if the
  // numbers of words differ. Never forgets.
  void learn(Span<const Span<const char>> forms, Span<const Span<const char>> terms);

  // The terms of texts; nothing if some form is not known. A text of stop words alone keeps them,
  // any other leaves them out.
  std::optional<Terms> terms(const Terms& words) const;

  std::size_t size() const;
  void clear();

 private:
  struct Term {
    std::uint64_t id = 0;
    bool stop_word = false;
  };

  std::size_t capacity_;
  IndexMap stop_words_;
  mutable std::shared_mutex mutex_;
  IndexMap forms_;
  std::vector<Term> terms_;  // by index of its form; at most one spare
};

}  // namespace ebb
