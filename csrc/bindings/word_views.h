// A batch of words as Python hands it over: bytes and int64 offsets. Offsets are checked here, so
// that the core may trust them; memory is borrowed from the arguments.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "bindings/numpy_views.h"
#include "core/ragged.h"
#include "core/span.h"

namespace ebb::bindings {

inline Span<const std::int64_t> ends_view(const py::object& ends, const std::string& argument,
                                          std::size_t limit) {
  const auto view = vector_view<std::int64_t>(ends, argument);
  check_ends(view, limit, argument);
  return view;
}

// Words that belong to no text.
inline WordBatch words_view(const py::object& utf8, const py::object& word_ends) {
  if (!PyBytes_Check(utf8.ptr())) {
    raise_type("utf8", "bytes", py::str(py::type::of(utf8).attr("__name__")));
  }
  const Span<const char> text{PyBytes_AS_STRING(utf8.ptr()),
                              static_cast<std::size_t>(PyBytes_GET_SIZE(utf8.ptr()))};
  return {text, ends_view(word_ends, "word_ends", text.size), {}};
}

inline WordBatch words_view(const py::object& utf8, const py::object& word_ends,
                            const py::object& text_ends) {
  WordBatch batch = words_view(utf8, word_ends);
  batch.text_ends = ends_view(text_ends, "text_ends", batch.word_ends.size);
  return batch;
}

}  // namespace ebb::bindings
