#include "core/ascii_names.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_set>

#include "core/short_list.h"

namespace ebb {

namespace {

bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return is_small(c) || is_capital(c); }
bool is_part(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
bool is_joint(char c) { return c == '.' || c == '\'' || c == '@' || c == '/' || c == '-'; }
bool ends_sentence(char c) {
  return c == '.' || c == '!' || c == '?' || c == ':' || c == ';' || c == '\n';
}

// Where the piece ends that begins here: at the last letter, digit or underscore before what
// neither is one nor joins two.
const char* piece_end(const char* at, const char* end) {
  const char* last = at;
  for (; at != end && (is_part(*at) || is_joint(*at)); ++at) {
    if (is_part(*at)) last = at;
  }
  return last + 1;
}

// Whether a word is written as no word of a language is.
bool is_identifier(Span<const char> word) {
  bool digit = false, letter = false;
  for (std::size_t i = 0; i < word.size; ++i) {
    if (word[i] == '_') return true;
    if (i > 0 && is_small(word[i - 1]) && is_capital(word[i])) return true;
    digit = digit || is_digit(word[i]);
    letter = letter || is_letter(word[i]);
  }
  return digit && letter;
}

bool is_name(Span<const char> word, bool starts) {
  const bool is_i = word.size == 1 && word[0] == 'I';
  return (is_capital(word[0]) && !starts && !is_i) || is_identifier(word);
}

// Words, each once, in order of first occurrence. Few are compared one by one.
class Distinct {
 public:
  void add(Span<const char> word) {
    const std::string_view text{word.data, word.size};
    if (words_.size() < kFew) {
      if (std::find(words_.begin(), words_.end(), text) != words_.end()) return;
    } else {
      if (known_.empty()) known_.insert(words_.begin(), words_.end());
      if (!known_.insert(text).second) return;
    }
    words_.push_back(text);
  }

  const std::string_view* begin() const { return words_.begin(); }
  const std::string_view* end() const { return words_.end(); }

 private:
  static constexpr std::size_t kFew = 16;

  ShortList<std::string_view, kFew> words_;
  std::unordered_set<std::string_view> known_;  // none while there are few
};

}  // namespace

std::string ascii_names(Span<const char> text) {
  const bool shouted = std::none_of(text.begin(), text.end(), is_small);
  Distinct found;
  bool starts = true;
  for (const char* at = text.begin(); at != text.end();) {
    if (!is_letter(*at) && !is_digit(*at)) {
      starts = starts || ends_sentence(*at);
      ++at;
      continue;
    }
    const char* const next = piece_end(at, text.end());
    Span<const char> word{at, static_cast<std::size_t>(next - at)};
    at = next;
    if (word.size > 2 && word[word.size - 1] == 's' && word[word.size - 2] == '\'') word.size -= 2;
    if (is_name(word, starts || shouted)) found.add(word);
    starts = false;
  }
  std::string names;
  for (const std::string_view name : found) {
    if (!names.empty()) names.push_back(' ');
    names.append(name);
  }
  return names;
}

}  // namespace ebb
