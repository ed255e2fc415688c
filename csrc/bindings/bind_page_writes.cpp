#include <pybind11/pybind11.h>

#include <cstdint>

#include "bindings/topics.h"
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
}

}  // namespace ebb::bindings
