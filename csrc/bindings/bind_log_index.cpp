#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>

#include "bindings/released.h"
#include "bindings/topics.h"
#include "core/errors.h"
#include "files/forks.h"
#include "files/log_index.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

std::unique_ptr<LogIndex> make(std::uintptr_t file) {
  if (file == 0) throw ValueError("file", "the address of an open file", "0");
  return released(
      [file] { return std::make_unique<LogIndex>(*reinterpret_cast<DatabaseFile*>(file)); });
}

// Nothing but a few words of memory: the interpreter's lock would take longer to let go.
py::bytes header(const LogIndex& index) {
  LogIndex::Header words;
  if (!index.read(words)) return {};
  return {reinterpret_cast<const char*>(words.data()), sizeof(words)};
}

}  // namespace

void bind_log_index(py::module_& m) {
  py::class_<LogIndex>(m, "LogIndex", "The index of the write-ahead log of an open SQLite file.")
      .def(py::init(&make), py::arg("file"))
      .def("header", &header,
           "Bytes that every commit changes; empty while they are written, and in a forked child.")
      .def("frames", &LogIndex::frames,
           "How many frames the log has; 0 while its header is written, and in a forked child.");
  m.def("forks", &forks, "Return another number in every forked child than in its parent.");
}

}  // namespace ebb::bindings
