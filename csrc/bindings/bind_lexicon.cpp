#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <vector>

#include "bindings/topics.h"
#include "bindings/word_views.h"
#include "core/errors.h"
#include "core/lexicon.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

// The core's copy of a Python list of words: the list may change once the GIL is released.
class OwnedWords {
 public:
  OwnedWords(const py::object& list, const std::string& argument, bool none_allowed) {
    if (!PyList_Check(list.ptr())) {
      raise_type(argument, "a list", py::str(py::type::of(list).attr("__name__")));
    }
    for (const py::handle item : py::reinterpret_borrow<py::list>(list)) {
      if (!(none_allowed && item.is_none())) append(item, argument);
      ends_.push_back(static_cast<std::int64_t>(utf8_.size()));
    }
  }

  WordBatch view() const {
    return {{utf8_.data(), utf8_.size()}, {ends_.data(), ends_.size()}, {}};
  }

 private:
  void append(const py::handle& item, const std::string& argument) {
    const std::string place = argument + "[" + std::to_string(ends_.size()) + "]";
    if (!PyUnicode_Check(item.ptr())) {
      raise_type(place, "str", py::str(py::type::of(item).attr("__name__")));
    }
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(item.ptr(), &size);
    if (text == nullptr) {
      if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) throw py::error_already_set();
      PyErr_Clear();
      throw ValueError(place, "text without lone surrogates", "a lone surrogate");
    }
    utf8_.append(text, static_cast<std::size_t>(size));
  }

  std::string utf8_;
  std::vector<std::int64_t> ends_;
};

py::object decoded(const WordBatch& batch, std::size_t position) {
  const Span<const char> word = word_at(batch, position);
  PyObject* text = PyUnicode_DecodeUTF8(word.data, static_cast<Py_ssize_t>(word.size), nullptr);
  if (text == nullptr) {
    if (!PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) throw py::error_already_set();
    PyErr_Clear();
    throw ValueError("utf8", "UTF-8 in word " + std::to_string(position), "other bytes");
  }
  return py::reinterpret_steal<py::object>(text);
}

py::list unknown(Lexicon& lexicon, const py::object& utf8, const py::object& word_ends) {
  const WordBatch batch = words_view(utf8, word_ends);
  std::vector<std::size_t> positions;
  {
    const py::gil_scoped_release nogil;
    positions = lexicon.unknown(batch);
  }
  py::list forms(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) forms[i] = decoded(batch, positions[i]);
  return forms;
}

void learn(Lexicon& lexicon, const py::object& forms, const py::object& terms) {
  const OwnedWords form_words(forms, "forms", false);
  const OwnedWords term_words(terms, "terms", true);
  const py::gil_scoped_release nogil;
  lexicon.learn(form_words.view(), term_words.view());
}

py::object terms(const Lexicon& lexicon, const py::object& utf8, const py::object& word_ends,
                 const py::object& text_ends) {
  const WordBatch batch = words_view(utf8, word_ends, text_ends);
  std::optional<Terms> found;
  {
    const py::gil_scoped_release nogil;
    found = lexicon.terms(batch);
  }
  if (!found) return py::none();
  return py::make_tuple(to_numpy(std::move(found->ids)), to_numpy(std::move(found->text_ends)));
}

std::unique_ptr<Lexicon> make_lexicon(long long capacity) {
  if (capacity < 1) {
    throw ValueError("capacity", "an integer of at least 1", std::to_string(capacity));
  }
  return std::make_unique<Lexicon>(static_cast<std::size_t>(capacity));
}

}  // namespace

void bind_lexicon(py::module_& m) {
  using release_gil = py::call_guard<py::gil_scoped_release>;
  py::class_<Lexicon>(m, "Lexicon", "What each word form means: a term, or nothing.")
      .def(py::init(&make_lexicon), py::arg("capacity") = Lexicon::kCapacity)
      .def("unknown", &unknown, py::arg("utf8"), py::arg("word_ends"),
           "Forms not learnt yet, each once, in order; forgets all first when over capacity.")
      .def("learn", &learn, py::arg("forms"), py::arg("terms"),
           "Learn the term of each form; None or an empty term makes it a stop word.")
      .def("terms", &terms, py::arg("utf8"), py::arg("word_ends"), py::arg("text_ends"),
           "Term ids and where each text ends among them; None if some form is not known.")
      .def("clear", &Lexicon::clear, release_gil(), "Forget every form.")
      .def("__len__", &Lexicon::size, release_gil());
}

}  // namespace ebb::bindings
