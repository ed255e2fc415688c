// What _tokenize calls with texts that it has borrowed from Python: the core's work on them, as C
// functions in the capsule _core._text_functions, so that nothing is copied or wrapped in between.
//
// All are called with the interpreter lock held and borrow what they are given; they return a new
// reference, or null with an exception set.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>

#include "core/character_classes.h"
#include "core/term_words.h"
#include "core/text.h"
#include "core/word_hash.h"

namespace ebb::bindings {

constexpr const char* kTextFunctions = "ebbmem._core._text_functions";

struct TextFunctions {
  // (count, dim) float32, or (dim,) of the only text when `flat`.
  PyObject* (*embed)(const Text* texts, std::size_t count, const Split* split, std::size_t dim,
                     Sign sign, bool flat);

  // (buckets uint32, counts int32, text_ends int64), without the last when `flat`.
  PyObject* (*count)(const Text* texts, std::size_t count, const Split* split, std::size_t dim,
                     Sign sign, bool flat);

  // (term ids uint64, text_ends int64) by a _core.Lexicon; None if it does not know some form.
  // Without a lexicon (None) every form is its own term.
  PyObject* (*terms)(PyObject* lexicon, const Text* texts, std::size_t count,
                     const TermSplit* split);

  // The forms that a _core.Lexicon does not know, each once, as a list of str.
  PyObject* (*unknown)(PyObject* lexicon, const Text* texts, std::size_t count,
                       const TermSplit* split);

  // (utf8 bytes, word_ends int64, text_ends int64).
  PyObject* (*words)(const Text* texts, std::size_t count, const Split* split);

  // CharacterClasses::fill; takes no lock and throws nothing.
  void (*fill)(CharacterClasses* classes, std::uint32_t first, std::uint32_t last,
               CharacterClasses::Test is_alphanumeric, CharacterClasses::Test is_decimal);
};

}  // namespace ebb::bindings
