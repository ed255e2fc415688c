#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "bindings/numpy_views.h"
#include "bindings/topics.h"
#include "core/ascii_names.h"
#include "core/errors.h"
#include "core/lexicon.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

// The core's view of a Python list of words, and the strings it borrows from: the list may change
// once the GIL is released.
class BorrowedWords {
 public:
  BorrowedWords(const py::object& list, const std::string& argument) {
    if (!PyList_Check(list.ptr())) {
      raise_type(argument, "a list", py::str(py::type::of(list).attr("__name__")));
    }
    strings_ = py::tuple(list);
    for (const py::handle item : strings_) words_.push_back(utf8_of(item, argument));
  }

  Span<const Span<const char>> view() const { return {words_.data(), words_.size()}; }

 private:
  Span<const char> utf8_of(const py::handle& item, const std::string& argument) {
    const std::string place = argument + "[" + std::to_string(words_.size()) + "]";
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
    return {text, static_cast<std::size_t>(size)};
  }

  py::tuple strings_;
  std::vector<Span<const char>> words_;
};

void learn(Lexicon& lexicon, const py::object& forms, const py::object& terms) {
  const BorrowedWords form_words(forms, "forms");
  const BorrowedWords term_words(terms, "terms");
  const py::gil_scoped_release nogil;
  lexicon.learn(form_words.view(), term_words.view());
}

std::unique_ptr<Lexicon> make_lexicon(long long capacity, const py::object& stop_words) {
  if (capacity < 1) {
    throw ValueError("capacity", "an integer of at least 1", std::to_string(capacity));
  }
  const BorrowedWords words(stop_words, "stop_words");
  return std::make_unique<Lexicon>(static_cast<std::size_t>(capacity), words.view());
}

py::str names_of(const py::object& text) {
  if (PyUnicode_Check(text.ptr()) == 0) {
    raise_type("text", "a str", py::str(py::type::of(text).attr("__name__")));
  }
  if (PyUnicode_IS_ASCII(text.ptr()) == 0) throw ValueError("text", "ASCII", "other characters");
  const auto* const bytes = reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(text.ptr()));
  return py::str(ascii_names({bytes, static_cast<std::size_t>(PyUnicode_GET_LENGTH(text.ptr()))}));
}

}  // namespace

void bind_lexicon(py::module_& m) {
  using release_gil = py::call_guard<py::gil_scoped_release>;
  py::class_<Lexicon>(m, "Lexicon", "What each word form means: a term.")
      .def(py::init(&make_lexicon), py::arg("capacity") = Lexicon::kCapacity,
           py::arg("stop_words") = py::list())
      .def("learn", &learn, py::arg("forms"), py::arg("terms"), "Learn the term of each form.")
      .def("clear", &Lexicon::clear, release_gil(), "Forget every form.")
      .def("__len__", &Lexicon::size, release_gil());
  m.def("ascii_names", &names_of, py::arg("text"),
        "Return the names in an ASCII text, with a space between two.");
}

}  // namespace ebb::bindings
