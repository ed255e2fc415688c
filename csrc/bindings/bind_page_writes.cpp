#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>

#include "bindings/topics.h"
#include "files/log_writes.h"
#include "files/page_writes.h"

namespace py = pybind11;

namespace ebb::bindings {

void bind_page_writes(py::module_& m) {
  m.def(
      "write_without_leftovers",
      [](std::uintptr_t file) {
        return file != 0 && write_without_leftovers(*reinterpret_cast<DatabaseFile*>(file));
      },
      "Let the pages of an open SQLite file, given by its address, be written without leftovers.",
      py::arg("file"));
  m.def(
      "gather_frames",
      [](std::uintptr_t log, std::size_t page_size) {
        return log != 0 && gather_frames(*reinterpret_cast<DatabaseFile*>(log), page_size);
      },
      "Let the frames of an open SQLite log, given by its address, be written commit by commit.",
      py::arg("log"), py::arg("page_size"));
  m.def(
      "let_frames_wait",
      [](std::uintptr_t log, bool may_wait) {
        return log != 0 && let_frames_wait(*reinterpret_cast<DatabaseFile*>(log), may_wait);
      },
      "Let the frames of an open SQLite log, given by its address, wait; or forget those that do.",
      py::arg("log"), py::arg("may_wait"));
}

}  // namespace ebb::bindings
