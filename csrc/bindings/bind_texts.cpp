#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <vector>

#include "bindings/errors.h"
#include "bindings/large_array.h"
#include "bindings/numpy_views.h"
#include "bindings/released.h"
#include "bindings/text_functions.h"
#include "bindings/topics.h"
#include "core/hash_embed.h"
#include "core/lexicon.h"
#include "core/term_words.h"
#include "core/word_list.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

using Texts = Span<const Text>;

// Below this many code points the interpreter lock is kept: handing it over would cost more.
constexpr std::size_t kWorthReleasing = 16384;

// Run `call` without the interpreter lock if the texts are many; it must not wait for anything.
template <typename Call>
auto released_if_long(Texts texts, Call call) {
  return code_points(texts) < kWorthReleasing ? call() : released(call);
}

// What `make` returns, as C hands it over: C++ exceptions become Python's.
template <typename Make>
PyObject* handed_over(Make make) noexcept {
  try {
    return py::object(make()).release().ptr();
  } catch (...) {
    set_python_error();
  }
  return nullptr;
}

PyObject* embed(const Text* texts, std::size_t count, const Split* split, std::size_t dim,
                Sign sign, bool flat) {
  return handed_over([&] {
    const Texts batch{texts, count};
    const NewArray<float> rows = flat ? NewArray<float>(dim) : new_rows<float>(count, dim);
    released_if_long(batch, [&] { embed_texts(batch, *split, dim, sign, rows.values); });
    return rows.array;
  });
}

PyObject* count(const Text* texts, std::size_t count, const Split* split, std::size_t dim,
                Sign sign, bool flat) {
  return handed_over([&]() -> py::object {
    const Texts batch{texts, count};
    const SparseCounts found =
        released_if_long(batch, [&] { return count_texts(batch, *split, dim, sign); });
    const py::object buckets = copied(found.buckets);
    const py::object counts = copied(found.counts);
    if (flat) return py::make_tuple(buckets, counts);
    return py::make_tuple(buckets, counts, copied(found.text_ends));
  });
}

PyObject* terms(PyObject* lexicon, const Text* texts, std::size_t count, const TermSplit* split) {
  return handed_over([&]() -> py::object {
    const Lexicon* known = lexicon == Py_None ? nullptr : py::handle(lexicon).cast<Lexicon*>();
    const std::optional<Terms> found = released([&]() -> std::optional<Terms> {
      Terms words = hash_texts({texts, count}, *split);
      return known == nullptr ? terms_as_they_are(std::move(words)) : known->terms(words);
    });
    if (!found) return py::none();
    return py::make_tuple(copied(found->ids), copied(found->text_ends));
  });
}

PyObject* unknown(PyObject* lexicon, const Text* texts, std::size_t count, const TermSplit* split) {
  return handed_over([&] {
    auto& known = py::handle(lexicon).cast<Lexicon&>();
    TermWords list;
    const std::vector<std::size_t> positions = released([&] {
      for (const Text& text : Texts{texts, count}) list.add(text, *split);
      const Span<const std::size_t> ends = list.text_ends();
      return known.unknown({hash_words(list.words()), {ends.begin(), ends.end()}});
    });
    py::list forms;
    for (const std::size_t position : positions) {
      const Span<const char> word = list.words()[position];
      forms.append(py::str(word.data, word.size));
    }
    return forms;
  });
}

PyObject* words(const Text* texts, std::size_t count, const Split* split) {
  return handed_over([&] {
    const Texts batch{texts, count};
    const WordBatch found = released_if_long(batch, [&] { return split_texts(batch, *split); });
    return py::make_tuple(py::bytes(found.utf8), copied(found.word_ends), copied(found.text_ends));
  });
}

void fill(CharacterClasses* classes, std::uint32_t first, std::uint32_t last,
          CharacterClasses::Test is_alphanumeric, CharacterClasses::Test is_decimal) {
  classes->fill(first, last, is_alphanumeric, is_decimal);
}

const TextFunctions kFunctions{embed, count, terms, unknown, words, fill};

}  // namespace

void bind_texts(py::module_& m) {
  // Never written to, whatever a capsule's type says.
  m.attr("_text_functions") = py::capsule(static_cast<const void*>(&kFunctions), kTextFunctions);
}

}  // namespace ebb::bindings
