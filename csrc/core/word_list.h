// The words of some texts, as UTF-8, text after text.
//
// Words of an ASCII text are borrowed from the text itself; those of another text, and lowered
// ones, are held here. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/short_list.h"
#include "core/span.h"
#include "core/text.h"

namespace ebb {

class WordList {
 public:
  // Append the words of one text. It must live as long as its words are used; it holds no
  // surrogate that belongs to `split`.
  void add(const Text& text, const Split& split);

  // Forget all texts; keep the memory.
  void clear();

  Span<const Span<const char>> words() const { return {words_.begin(), words_.size()}; }

  // Text t has the words before text_ends()[t].
  Span<const std::size_t> text_ends() const { return {text_ends_.begin(), text_ends_.size()}; }

 private:
  // Where `count` more words go; those that do not come are to be cut off.
  Span<const char>* reserve(std::size_t count);
  char* hold(std::size_t size);

  // A text of 256 code points has at most 128 words.
  ShortList<Span<const char>, 128> words_;
  ShortList<std::size_t, 4> text_ends_;
  std::vector<std::vector<char>> held_;
};

// The words of many texts back to back: word w ends at byte word_ends[w], text t at word
// text_ends[t].
struct WordBatch {
  std::string utf8;
  std::vector<std::int64_t> word_ends;
  std::vector<std::int64_t> text_ends;
};

WordBatch split_texts(Span<const Text> texts, const Split& split);

}  // namespace ebb
