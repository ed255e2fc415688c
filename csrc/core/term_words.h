// The words of some texts as full-text search takes them, as UTF-8, text after text.
//
// Of each text there come first the forms, whose terms a lexicon knows: runs of letters, digits
// and marks, and the parts of a run with humps, where an ASCII capital follows a small letter
// (`getUserName`: get, user, name, getusername). Two humps make parts, or one after a small first
// letter: what has one after a capital is mostly a name (YouTube, LeBron). Behind the forms come
// the words that are terms as they are: the wholes of forms that joints hold together
// (`user@example.com`, `v1.2.3`) or that "++" or "#" follows (`C++`), and of scripts without spaces
// each two neighbouring characters.
//
// A character of these scripts is a letter with the marks behind it. Each is a term as well where
// `single_characters` asks for it, so that a cue of one character finds it; one that stands alone
// always is. ASCII capitals are lowered here; other texts come folded, with their humps marked. Not
// synchronised.
#pragma once

#include <cstddef>
#include <vector>

#include "core/character_classes.h"
#include "core/short_list.h"
#include "core/span.h"
#include "core/text.h"

namespace ebb {

struct TermSplit {
  const CharacterClasses* classes = nullptr;  // ASCII at least
  bool single_characters = false;
};

class TermWords {
 public:
  // Append the words of one text, which holds no surrogate.
  void add(const Text& text, const TermSplit& split);

  // Forget all texts; keep the memory.
  void clear();

  Span<const Span<const char>> words() const { return {words_.begin(), words_.size()}; }

  // Text t has the forms before text_ends()[2 t], and the other words before text_ends()[2 t + 1].
  Span<const std::size_t> text_ends() const { return {text_ends_.begin(), text_ends_.size()}; }

 private:
  using Words = ShortList<Span<const char>, 128>;

  char* hold(std::size_t size);
  // Append the words of an ASCII text that has none but runs of letters and digits, or say no.
  bool add_plain(const char* bytes, std::size_t length);

  Words words_;
  ShortList<Span<const char>, 32> as_they_are_;  // of the text that is being added
  ShortList<std::size_t, 4> text_ends_;
  std::vector<std::vector<char>> held_;
};

}  // namespace ebb
