#include "core/word_list.h"

#include <algorithm>

#include "core/ascii_words.h"
#include "core/utf8.h"

namespace ebb {

namespace {

using Word = Span<const char>;

// The words of a text that must be encoded, to `out`, their bytes to `at`; returns the end of
// `out`.
template <typename Unit>
Word* encode(const Text& text, const Split& split, char* at, Word* out) {
  const auto* units = static_cast<const Unit*>(text.units);
  char* begin = at;
  for (std::size_t i = 0; i < text.length; ++i) {
    const std::uint32_t point = units[i];
    if (split.characters->has(point)) {
      at = put_utf8(point, at);
    } else if (at != begin) {
      *out++ = {begin, static_cast<std::size_t>(at - begin)};
      begin = at;
    }
  }
  if (at != begin) *out++ = {begin, static_cast<std::size_t>(at - begin)};
  return out;
}

}  // namespace

void WordList::add(const Text& text, const Split& split) {
  if (text.ascii) {
    const auto* bytes = static_cast<const char*>(text.units);
    if (split.lower_ascii) {
      char* copy = hold(text.length);
      std::transform(bytes, bytes + text.length, copy, ascii_lowered<char>);
      bytes = copy;
    }
    Word* const out = reserve((text.length + 1) / 2);
    const auto any = [](std::size_t, std::size_t, std::uint64_t, std::uint64_t) { return true; };
    words_.cut(split_ascii(bytes, text.length, split.characters->rows(), out, any));
  } else {
    const int width = text.width;
    char* bytes = hold(most_utf8(text.length, width));
    Word* const out = reserve((text.length + 1) / 2);
    Word* const end = width == 1   ? encode<std::uint8_t>(text, split, bytes, out)
                      : width == 2 ? encode<std::uint16_t>(text, split, bytes, out)
                                   : encode<std::uint32_t>(text, split, bytes, out);
    words_.cut(end);
  }
  text_ends_.push_back(words_.size());
}

void WordList::clear() {
  words_.clear();
  text_ends_.clear();
  held_.clear();
}

Word* WordList::reserve(std::size_t count) {
  const std::size_t known = words_.size();
  return words_.resize_for_overwrite(known + count) + known;
}

char* WordList::hold(std::size_t size) { return held_.emplace_back(size).data(); }

WordBatch split_texts(Span<const Text> texts, const Split& split) {
  WordBatch batch;
  WordList list;
  for (const Text& text : texts) {
    list.add(text, split);
    for (const Word& word : list.words()) {
      batch.utf8.append(word.data, word.size);
      batch.word_ends.push_back(static_cast<std::int64_t>(batch.utf8.size()));
    }
    batch.text_ends.push_back(static_cast<std::int64_t>(batch.word_ends.size()));
    list.clear();
  }
  return batch;
}

}  // namespace ebb
