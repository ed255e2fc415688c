#include "core/term_words.h"

#include <algorithm>

#include "core/ascii_words.h"
#include "core/utf8.h"

namespace ebb {

namespace {

using Word = Span<const char>;

// A set of ASCII characters as vector code wants it, see CharacterSet::rows.
struct AsciiSet {
  unsigned char rows[16] = {};

  constexpr AsciiSet with(char first, char last) const {
    AsciiSet made = *this;
    for (int point = first; point <= last; ++point) {
      made.rows[point % 16] = static_cast<unsigned char>(made.rows[point % 16] | 1 << point / 16);
    }
    return made;
  }
  constexpr AsciiSet with(char one) const { return with(one, one); }
};

constexpr AsciiSet kCapitals = AsciiSet{}.with('A', 'Z');
constexpr AsciiSet kWordCharacters = kCapitals.with('a', 'z').with('0', '9');
constexpr AsciiSet kJoints =
    AsciiSet{}.with('.').with('_').with('@').with('-').with(',').with(':').with('/').with('+').with(
        '#');

constexpr bool is_ascii_digit(char letter) { return letter >= '0' && letter <= '9'; }

constexpr bool is_ascii_word(char letter) {
  return is_ascii_digit(letter) || is_ascii_small(letter) || is_ascii_capital(letter);
}

// Whether something joins the words before and after bytes[i], which is among kJoints and follows
// a word character, or makes a whole of the one before; now and then true where nothing does.
bool may_join(const char* bytes, std::size_t length, std::size_t i) {
  if (bytes[i] == '+' || bytes[i] == '#') return true;
  if (i + 1 == length || !is_ascii_word(bytes[i + 1])) return false;
  return joins(static_cast<unsigned char>(bytes[i]), is_ascii_digit(bytes[i - 1]),
               is_ascii_digit(bytes[i + 1]));
}

// Whether the forms of an ASCII text are its runs of word characters and all it has: asked block by
// block, in order, about the text as it was given.
class Plain {
 public:
  Plain(const char* bytes, std::size_t length) : bytes_(bytes), length_(length) {}

  bool operator()(std::size_t done, std::size_t count, std::uint64_t, std::uint64_t after_word) {
    const auto members_of = active().ascii_members;
    const std::uint64_t joints = members_of(bytes_ + done, count, kJoints.rows);
    for (std::uint64_t bits = joints & after_word; bits != 0; bits &= bits - 1) {
      if (may_join(bytes_, length_, done + lowest_bit(bits))) return false;
    }
    const std::uint64_t capitals = members_of(bytes_ + done, count, kCapitals.rows);
    const std::uint64_t humps = capitals & after_word & ~(capitals << 1 | capital_before_);
    for (std::uint64_t bits = humps; bits != 0; bits &= bits - 1) {
      if (is_ascii_small(bytes_[done + lowest_bit(bits) - 1])) return false;
    }
    capital_before_ = capitals >> (kAsciiBlock - 1);
    return true;
  }

 private:
  const char* bytes_;
  std::size_t length_;
  std::uint64_t capital_before_ = 0;
};

// Reads one text, code point by code point. What is read is written as UTF-8 to one place, of which
// the words are pieces; what joins words is written between them, to stand in the whole.
template <typename Forms, typename Words>
class TextReader {
 public:
  TextReader(const TermSplit& split, char* at, Forms& forms, Words& as_they_are)
      : split_(split), at_(at), forms_(forms), as_they_are_(as_they_are) {}

  template <typename Unit>
  void read(const Unit* units, std::size_t length) {
    for (std::size_t i = 0; i < length; ++i) {
      if (state_ == State::kRun) i = take_small_letters(units, i, length);
      if (i < length) take(units[i]);
    }
    end();
  }

 private:
  // What was read last.
  enum class State : std::uint8_t { kGap, kRun, kJoint, kPlus, kHash, kUnspaced };

  // What most of a text is, in a loop of its own; returns where it ends.
  template <typename Unit>
  std::size_t take_small_letters(const Unit* units, std::size_t first, std::size_t length) {
    const CharacterClasses& classes = *split_.classes;
    char* at = at_;
    std::size_t i = first;
    for (; i < length; ++i) {
      const std::uint32_t point = units[i];
      if (classes.of(point) != CharacterClass::kLetter || is_ascii_capital(point)) break;
      at = put_utf8(point, at);
    }
    if (i != first) {
      at_ = at;
      last_ = units[i - 1];
      digit_ = false;
    }
    return i;
  }

  void take(std::uint32_t point) {
    const CharacterClass kind = split_.classes->of(point);
    switch (kind) {
      case CharacterClass::kUnseen:
        return;
      case CharacterClass::kLetter:
      case CharacterClass::kDigit:
        return take_letter(point, kind == CharacterClass::kDigit);
      case CharacterClass::kUnspaced:
        return take_unspaced(point);
      case CharacterClass::kMark:
        return take_mark(point);
      case CharacterClass::kHump:
        return take_hump();
      case CharacterClass::kJoint:
        return take_sign(point, State::kJoint);
      case CharacterClass::kPlus:
        return state_ == State::kPlus ? take_second_plus() : take_sign(point, State::kPlus);
      case CharacterClass::kHash:
        return state_ == State::kHash ? end_chain() : take_sign(point, State::kHash);
      case CharacterClass::kGap:
        return end();
    }
  }

  void take_letter(std::uint32_t point, bool digit) {
    if (state_ == State::kRun) {
      if (is_ascii_small(last_) && is_ascii_capital(point)) end_part(1);
    } else if (state_ == State::kJoint && joins(joint_, digit_, digit)) {
      joined_ = true;
      begin_run(point);
    } else {
      state_ == State::kHash ? end_chain() : end();
      joined_ = false;
      chain_ = at_;
      begin_run(point);
    }
    state_ = State::kRun;
    last_ = point;
    digit_ = digit;
    put(ascii_lowered(point));
  }

  // Marked where it counts: then as many as any run wants.
  void take_hump() { state_ == State::kRun ? end_part(2) : end(); }

  void take_mark(std::uint32_t point) {
    if (state_ != State::kRun && state_ != State::kUnspaced) return end();
    last_ = point;
    digit_ = false;
    put(point);
  }

  void take_unspaced(std::uint32_t point) {
    if (state_ == State::kUnspaced) {
      end_character(split_.single_characters);
      before_ = character_;
    } else {
      end();
      before_ = nullptr;
    }
    state_ = State::kUnspaced;
    character_ = at_;
    put(point);
  }

  // A sign that makes a whole, depending on what comes next.
  void take_sign(std::uint32_t point, State state) {
    if (state_ != State::kRun) return end();
    end_run();
    state_ = state;
    joint_ = point;
    put(point);
  }

  void take_second_plus() {
    put('+');
    end_chain_with_sign();
  }

  // A gap: end what there is.
  void end() {
    if (state_ == State::kRun) end_run();
    if (state_ == State::kUnspaced) {
      end_character(split_.single_characters || before_ == nullptr);
      state_ = State::kGap;
    } else if (state_ == State::kHash) {
      end_chain_with_sign();
    } else if (state_ != State::kGap) {
      end_chain();
    }
  }

  void end_chain_with_sign() {
    joined_ = true;
    chain_end_ = at_;
    end_chain();
  }

  // The chain of runs, without a sign that was read behind the last.
  void end_chain() {
    if (joined_) as_they_are_.push_back(word(chain_, chain_end_));
    state_ = State::kGap;
  }

  void begin_run(std::uint32_t point) {
    run_ = part_ = at_;
    forms_before_ = forms_.size();
    humps_ = 0;
    humps_wanted_ = is_ascii_small(point) ? 1 : 2;
  }

  void end_run() {
    if (humps_ >= humps_wanted_) {
      end_part(0);
    } else {
      forms_.cut(forms_.begin() + forms_before_);
    }
    forms_.push_back(word(run_, at_));
    chain_end_ = at_;
  }

  void end_part(unsigned humps) {
    forms_.push_back(word(part_, at_));
    part_ = at_;
    humps_ += humps;
  }

  void end_character(bool single) {
    if (single) as_they_are_.push_back(word(character_, at_));
    if (before_ != nullptr) as_they_are_.push_back(word(before_, at_));
  }

  void put(std::uint32_t point) { at_ = put_utf8(point, at_); }

  static Word word(const char* begin, const char* end) {
    return {begin, static_cast<std::size_t>(end - begin)};
  }

  const TermSplit split_;
  char* at_;
  Forms& forms_;
  Words& as_they_are_;

  State state_ = State::kGap;
  std::uint32_t last_ = 0;     // the last code point of the run
  bool digit_ = false;         // whether it is a digit
  std::uint32_t joint_ = 0;    // the sign after the run
  bool joined_ = false;        // whether the chain is more than a run
  char* chain_ = nullptr;      // where the chain begins,
  char* chain_end_ = nullptr;  // and where the last of its runs ended
  char* run_ = nullptr;
  char* part_ = nullptr;
  std::size_t forms_before_ = 0;  // the run
  unsigned humps_ = 0;            // in the run,
  unsigned humps_wanted_ = 0;     // and how many make its parts forms
  char* character_ = nullptr;     // of a script without spaces
  char* before_ = nullptr;        // the character before it, if any
};

}  // namespace

void TermWords::add(const Text& text, const TermSplit& split) {
  const bool plain = text.ascii && add_plain(static_cast<const char*>(text.units), text.length);
  if (!plain) {
    TextReader reader(split, hold(most_utf8(text.length, text.width)), words_, as_they_are_);
    if (text.width == 1) reader.read(static_cast<const std::uint8_t*>(text.units), text.length);
    if (text.width == 2) reader.read(static_cast<const std::uint16_t*>(text.units), text.length);
    if (text.width == 4) reader.read(static_cast<const std::uint32_t*>(text.units), text.length);
  }
  text_ends_.push_back(words_.size());
  for (const Word& word : as_they_are_) words_.push_back(word);
  as_they_are_.clear();
  text_ends_.push_back(words_.size());
}

void TermWords::clear() {
  words_.clear();
  text_ends_.clear();
  held_.clear();
}

char* TermWords::hold(std::size_t size) { return held_.emplace_back(size).data(); }

bool TermWords::add_plain(const char* bytes, std::size_t length) {
  char* lowered = hold(length);
  std::transform(bytes, bytes + length, lowered, ascii_lowered<char>);
  const std::size_t known = words_.size();
  Word* const out = words_.resize_for_overwrite(known + (length + 1) / 2) + known;
  const Plain plain(bytes, length);
  Word* const end = split_ascii(lowered, length, kWordCharacters.rows, out, plain);
  words_.cut(end == nullptr ? out : end);
  return end != nullptr;
}

}  // namespace ebb
