// Code points as UTF-8, and ASCII letters lowered.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ebb {

// Write a code point that is no surrogate; return where the next one goes.
inline char* put_utf8(std::uint32_t point, char* at) {
  const auto tail = [&](unsigned shift) {
    return static_cast<char>(0x80 | ((point >> shift) & 63));
  };
  if (point < 0x80) {
    *at++ = static_cast<char>(point);
  } else if (point < 0x800) {
    *at++ = static_cast<char>(0xC0 | (point >> 6));
    *at++ = tail(0);
  } else if (point < 0x10000) {
    *at++ = static_cast<char>(0xE0 | (point >> 12));
    *at++ = tail(6);
    *at++ = tail(0);
  } else {
    *at++ = static_cast<char>(0xF0 | (point >> 18));
    *at++ = tail(12);
    *at++ = tail(6);
    *at++ = tail(0);
  }
  return at;
}

// The most bytes that a text of so many code points of `width` bytes takes: two, three and four per
// code point at a width of one, two and four.
inline std::size_t most_utf8(std::size_t length, int width) {
  return length * (width == 4 ? 4 : static_cast<std::size_t>(width) + 1);
}

template <typename Point>
constexpr bool is_ascii_capital(Point point) {
  return point >= 'A' && point <= 'Z';
}

template <typename Point>
constexpr bool is_ascii_small(Point point) {
  return point >= 'a' && point <= 'z';
}

template <typename Point>
constexpr Point ascii_lowered(Point point) {
  return static_cast<Point>(is_ascii_capital(point) ? point + ('a' - 'A') : point);
}

}  // namespace ebb
