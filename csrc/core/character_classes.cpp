#include "core/character_classes.h"

namespace ebb {

namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

template <std::size_t N>
bool among(std::uint32_t point, const Range (&ranges)[N]) {
  for (const Range& range : ranges) {
    if (point >= range.first && point <= range.last) return true;
  }
  return false;
}

// Their letters are. Hangul is written with spaces.
constexpr Range kUnspaced[] = {
    {0x0E00, 0x0EFF},                      // Thai, Lao
    {0x1000, 0x109F},                      // Myanmar
    {0x1780, 0x17FF},                      // Khmer
    {0x3000, 0x312F},                      // CJK symbols, Hiragana, Katakana, Bopomofo
    {0x31A0, 0x31FF},                      // Bopomofo and Katakana, extended
    {0x3400, 0x4DBF},                      // ideographs
    {0x4E00, 0x9FFF},   {0xA9E0, 0xA9FF},  // Myanmar, extended
    {0xAA60, 0xAA7F},   {0xF900, 0xFAFF},  // ideographs for compatibility
    {0x1AFF0, 0x1B16F},                    // kana, extended
    {0x20000, 0x3FFFF},                    // ideographs
};

// Not the zero-width space: it stands between words.
constexpr Range kUnseen[] = {
    {0x00AD, 0x00AD},                      // soft hyphen
    {0x034F, 0x034F},                      // combining grapheme joiner
    {0x061C, 0x061C},                      // Arabic letter mark
    {0x180B, 0x180F},                      // Mongolian selectors
    {0x200C, 0x200F},                      // joiners, marks of direction
    {0x202A, 0x202E},   {0x2060, 0x206F},  // word joiner, invisible operators, isolates
    {0xFE00, 0xFE0F},                      // selectors of a variant
    {0xFEFF, 0xFEFF},                      // byte order mark
    {0xE0000, 0xE0FFF},                    // tags, more selectors
};

}  // namespace

void CharacterClasses::fill(std::uint32_t first, std::uint32_t last, Test is_alphanumeric,
                            Test is_decimal) {
  is_alphanumeric_ = is_alphanumeric;
  is_decimal_ = is_decimal;
  for (std::uint32_t point = first; point < last; ++point) classes_[point] = told(point);
}

CharacterClass CharacterClasses::told(std::uint32_t point) const {
  if (is_decimal_(point)) return CharacterClass::kDigit;
  if (is_alphanumeric_(point)) {
    return among(point, kUnspaced) ? CharacterClass::kUnspaced : CharacterClass::kLetter;
  }
  switch (point) {
    case '.':
    case '_':
    case '@':
    case '-':
    case ',':
    case ':':
    case '/':
      return CharacterClass::kJoint;
    case '+':
      return CharacterClass::kPlus;
    case '#':
      return CharacterClass::kHash;
    case kHumpPoint:
      return CharacterClass::kHump;
    default:
      return among(point, kUnseen) ? CharacterClass::kUnseen : CharacterClass::kGap;
  }
}

}  // namespace ebb
