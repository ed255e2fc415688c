#include <pybind11/pybind11.h>

#include <string>
#include <utility>

#include "bindings/numpy_views.h"
#include "bindings/row_cells.h"
#include "bindings/scope_load_topic.h"
#include "core/scope_load.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

// Calls add(row) for the rows of a list until it returns false; returns how many came before.
template <typename Add>
std::size_t taken(const py::object& rows, Add add) {
  if (!PyList_Check(rows.ptr())) {
    raise_type("rows", "a list", py::str(py::type::of(rows).attr("__name__")));
  }
  std::size_t count = 0;
  // No other thread changes the list, for the interpreter's lock is kept; what a row that does not
  // fit makes Python do may.
  while (count < static_cast<std::size_t>(PyList_GET_SIZE(rows.ptr())) &&
         add(PyList_GET_ITEM(rows.ptr(), static_cast<Py_ssize_t>(count)))) {
    ++count;
  }
  return count;
}

py::list strings(const NameNumbers& numbers) {
  py::list names;
  for (const std::string* name : numbers.names()) names.append(py::str(*name));
  return names;
}

template <typename T>
py::object fitted(std::vector<T>& values) {
  values.shrink_to_fit();
  return to_numpy(std::move(values));
}

// The memories of one scope, and their texts as Python has them.
class MemoryRows {
 public:
  std::size_t take(const py::object& rows) {
    return taken(rows, [this](PyObject* row) { return add(row); });
  }

  std::size_t size() const { return load_.size(); }
  std::int64_t checksum_xor() const { return load_.checksum_xor(); }
  py::list texts() const { return texts_; }
  py::list kinds() { return strings(load_.columns().kinds); }
  py::list runs() { return strings(load_.columns().runs); }

  py::dict columns() {
    MemoryColumns& from = load_.columns();
    py::dict columns;
    columns["row"] = fitted(from.row);
    columns["created_us"] = fitted(from.created_us);
    columns["anchored_us"] = fitted(from.anchored_us);
    columns["access_count"] = fitted(from.access_count);
    columns["importance"] = fitted(from.importance);
    columns["intensity"] = fitted(from.intensity);
    columns["strength"] = fitted(from.strength);
    columns["anchor"] = fitted(from.anchor);
    columns["tier"] = fitted(from.tier);
    add_seldom(columns, "valid_from_us", from.valid_from_us);
    add_seldom(columns, "valid_to_us", from.valid_to_us);
    add_seldom(columns, "expires_us", from.expires_us);
    add_seldom(columns, "successor", from.successor);
    add_seldom(columns, "valence", from.valence);
    add_seldom(columns, "kind", from.kind);
    add_seldom(columns, "run", from.run);
    add_seldom(columns, "pinned", from.pinned);
    return columns;
  }

 private:
  static constexpr std::size_t kWidth = 22;

  bool add(PyObject* row) {
    RowCells cells(row, kWidth, "rows");
    const MemoryRecord memory = indexed_memory(cells);
    const TextRecord text{memory.row_id, cells.text(19), cells.text(20)};
    const std::int64_t checksum = cells.integer(18);
    const bool right = text_checksum(text) == cells.integer(21);
    if (!right || !cells.fits() || !load_.add(memory, checksum)) return false;
    texts_.append(joined(cells.object(19), cells.object(20)));
    return true;
  }

  // Summary and keywords, a line each.
  py::object joined(PyObject* summary, PyObject* keywords) const {
    if (PyUnicode_GET_LENGTH(keywords) == 0) return py::reinterpret_borrow<py::object>(summary);
    PyObject* text = PyUnicode_Concat(summary, newline_.ptr());
    if (text != nullptr) PyUnicode_Append(&text, keywords);
    if (text == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(text);
  }

  template <typename T>
  static void add_seldom(py::dict& columns, const char* name, SeldomColumn<T>& column) {
    if (!column.values.empty()) columns[name] = fitted(column.values);
  }

  MemoryLoad load_;
  py::list texts_;
  py::str newline_ = py::str("\n");
};

class LinkRows {
 public:
  std::size_t take(const py::object& rows) {
    return taken(rows, [this](PyObject* row) { return add(row); });
  }

  std::size_t size() const { return load_.size(); }
  py::list kinds() const { return strings(load_.kinds); }

  py::tuple columns() {
    return py::make_tuple(fitted(load_.source), fitted(load_.target), fitted(load_.kind),
                          fitted(load_.weight));
  }

 private:
  static constexpr std::size_t kWidth = 7;

  // In the order of SELECT_LINKS.
  bool add(PyObject* row) {
    RowCells cells(row, kWidth, "rows");
    const LinkRecord link{cells.integer(0), cells.integer(1), cells.text(2),
                          cells.real(3),    cells.integer(4), cells.integer(5)};
    const std::int64_t checksum = cells.integer(6);
    return cells.fits() && load_.add(link, checksum);
  }

  LinkLoad load_;
};

}  // namespace

void bind_scope_load(py::module_& m) {
  py::class_<MemoryRows>(m, "MemoryRows", "Memories of one scope, checked and kept by column.")
      .def(py::init<>())
      .def("take", &MemoryRows::take, py::arg("rows"),
           "Take rows up to one that is not as it was written; return how many were taken.")
      .def("columns", &MemoryRows::columns,
           "Hand over the columns by name, once; what all have as usual is left out.")
      .def("__len__", &MemoryRows::size)
      .def_property_readonly("checksum_xor", &MemoryRows::checksum_xor,
                             "XOR of the checksums of all memories.")
      .def_property_readonly("texts", &MemoryRows::texts, "Summary and keywords of each memory.")
      .def_property_readonly("kinds", &MemoryRows::kinds, "What the numbers in `kind` mean.")
      .def_property_readonly("runs", &MemoryRows::runs, "What the numbers in `run` mean.");
  py::class_<LinkRows>(m, "LinkRows", "Links of one scope, checked and kept by column.")
      .def(py::init<>())
      .def("take", &LinkRows::take, py::arg("rows"),
           "Take rows up to one that is not as it was written; return how many were taken.")
      .def("columns", &LinkRows::columns,
           "Hand over source, target, kind and weight, once; ends by row id.")
      .def("__len__", &LinkRows::size)
      .def_property_readonly("kinds", &LinkRows::kinds, "What the numbers of kinds mean.");
}

}  // namespace ebb::bindings
