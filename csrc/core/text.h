// One text as an interpreter keeps it, and which code points words are made of. What a word
// character is comes from outside: the running interpreter's Unicode tables are the measure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/span.h"

namespace ebb {

// `length` code points of `width` bytes each (1, 2 or 4), borrowed.
struct Text {
  const void* units = nullptr;
  std::size_t length = 0;
  int width = 1;
  bool ascii = true;  // all below 128, with width 1: its bytes are its UTF-8
};

// A set of code points.
class CharacterSet {
 public:
  using Test = bool (*)(std::uint32_t point);

  // What `test` accepts: asked once about each code point below 65536, then about what is above.
  void fill(Test test) {
    beyond_ = test;
    for (std::uint32_t point = 0; point < kTable; ++point) {
      if (!test(point)) continue;
      bits_[point / 32] |= std::uint32_t{1} << (point % 32);
      if (point < 128) rows_[point % 16] |= static_cast<unsigned char>(1U << (point / 16));
    }
  }

  bool has(std::uint32_t point) const {
    if (point >= kTable) return beyond_(point);
    return ((bits_[point / 32] >> (point % 32)) & 1) != 0;
  }

  // The ASCII part as vector code wants it: bit h of rows()[l] stands for code point 16 h + l.
  const unsigned char* rows() const { return rows_; }

 private:
  static constexpr std::uint32_t kTable = 65536;

  std::uint32_t bits_[kTable / 32] = {};  // 8 KiB: stays in the first-level cache
  unsigned char rows_[16] = {};
  Test beyond_ = nullptr;
};

// How a text becomes words: the runs of these characters, ASCII capitals lowered first if asked.
// (Capitals beyond ASCII are the interpreter's to lower, before a text comes here.)
struct Split {
  const CharacterSet* characters = nullptr;
  bool lower_ascii = false;
};

template <typename Unit>
bool any_surrogate(const Unit* units, std::size_t length) {
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < length; ++i) {  // no early exit: compilers make vector code of it
    found |= static_cast<std::uint32_t>((static_cast<std::uint32_t>(units[i]) >> 11) == 0x1B);
  }
  return found != 0;
}

template <typename Unit>
bool any_hump(const Unit* units, std::size_t length) {
  unsigned found = 0;
  for (std::size_t i = 1; i < length; ++i) {  // no early exit, as above
    const auto before = static_cast<std::uint32_t>(units[i - 1]) - 'a';
    const auto after = static_cast<std::uint32_t>(units[i]) - 'A';
    found |= static_cast<unsigned>(before < 26) & static_cast<unsigned>(after < 26);
  }
  return found != 0;
}

inline std::size_t code_points(Span<const Text> texts) {
  std::size_t sum = 0;
  for (const Text& text : texts) sum += text.length;
  return sum;
}

// Whether a text holds a surrogate, which UTF-8 cannot encode.
inline bool has_surrogate(const Text& text) {
  if (text.width == 1) return false;
  if (text.width == 2)
    return any_surrogate(static_cast<const std::uint16_t*>(text.units), text.length);
  return any_surrogate(static_cast<const std::uint32_t*>(text.units), text.length);
}

// Whether a small ASCII letter is followed by a capital one.
inline bool has_hump(const Text& text) {
  if (text.width == 1) return any_hump(static_cast<const std::uint8_t*>(text.units), text.length);
  if (text.width == 2) return any_hump(static_cast<const std::uint16_t*>(text.units), text.length);
  return any_hump(static_cast<const std::uint32_t*>(text.units), text.length);
}

}  // namespace ebb
