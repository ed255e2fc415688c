// What each code point is to full-text search. As with words, the running interpreter's Unicode
// tables are the measure of what is a letter, a digit, a mark; scripts and signs are told here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ebb {

enum class CharacterClass : std::uint8_t {
  kGap,       // stands between words
  kLetter,    // of a script that is written with spaces; also a number that is no decimal digit
  kDigit,     // decimal
  kUnspaced,  // of a script without spaces: Thai, Lao, Myanmar, Khmer, Chinese, Japanese
  kMark,      // belongs to the character before it
  kUnseen,    // as if it were not there: joiners, soft hyphens, marks of direction, selectors
  kHump,      // stands where a word was written as two, before it was folded
  kJoint,     // joins two words if they hold what it asks for, see joins()
  kPlus,
  kHash,
};

class CharacterClasses {
 public:
  using Test = bool (*)(std::uint32_t point);

  // What stands for kHump: a noncharacter.
  static constexpr std::uint32_t kHumpPoint = 0xFDD0;

  // Two planes: what is above has no marks and little else.
  static constexpr std::uint32_t kTable = 0x20000;

  // Both are asked now about the code points in [first, last), which lie below kTable, and later
  // about those above it. No code point becomes a mark.
  void fill(std::uint32_t first, std::uint32_t last, Test is_alphanumeric, Test is_decimal);

  // Let a code point be a mark if it would be a gap.
  void mark(std::uint32_t point) {
    if (classes_[point] == CharacterClass::kGap) classes_[point] = CharacterClass::kMark;
  }

  CharacterClass of(std::uint32_t point) const {
    return point < kTable ? classes_[point] : told(point);
  }

 private:
  CharacterClass told(std::uint32_t point) const;

  CharacterClass classes_[kTable] = {};  // 128 KiB, of which a text touches little
  Test is_alphanumeric_ = nullptr;
  Test is_decimal_ = nullptr;
};

// Whether a joint makes one whole of the words at its sides: `foo.bar`, `ERR_42`, `user@host`
// always; `2026-11-30`, `COVID-19` beside a digit; `1,000`, `10:30`, `11/30` between digits.
constexpr bool joins(std::uint32_t joint, bool digit_before, bool digit_after) {
  if (joint == '.' || joint == '_' || joint == '@') return true;
  return joint == '-' ? digit_before || digit_after : digit_before && digit_after;
}

}  // namespace ebb
