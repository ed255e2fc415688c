#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "bindings/row_cells.h"
#include "bindings/scope_load_topic.h"
#include "core/record_rows.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

constexpr int kNumberBits = 32;
constexpr std::size_t kMemoryWidth = 30;
constexpr std::size_t kEventWidth = 7;
constexpr std::size_t kRecordedAt = 15;

// A tuple that is being filled.
class NewTuple {
 public:
  explicit NewTuple(std::size_t width)
      : tuple_(py::reinterpret_steal<py::object>(PyTuple_New(static_cast<Py_ssize_t>(width)))) {
    if (!tuple_) throw py::error_already_set();
  }

  void add(std::int64_t number) { take(PyLong_FromLongLong(number)); }

  void add(PyObject* borrowed) {
    Py_INCREF(borrowed);
    take(borrowed);
  }

  py::object filled() { return std::move(tuple_); }

 private:
  void take(PyObject* value) {
    if (value == nullptr) throw py::error_already_set();
    PyTuple_SET_ITEM(tuple_.ptr(), static_cast<Py_ssize_t>(size_++), value);
  }

  py::object tuple_;
  std::size_t size_ = 0;
};

// In the order of MemoryRow, as the others.
MemoryRecord memory_of(RowCells& cells, std::int64_t row_id, std::int64_t seq) {
  return {row_id,
          cells.text(3),
          cells.real(7),
          cells.real(8),
          cells.real(9),
          cells.real(10),
          cells.real(11),
          cells.integer(12),
          cells.integer(13),
          cells.integer(14),
          cells.integer_or_null(16),
          cells.integer_or_null(17),
          cells.integer_or_null(18),
          cells.integer(20),
          cells.integer(22),
          cells.integer_or_null(23),
          cells.text_or_null(28),
          seq};
}

ContentRecord content_of(RowCells& cells, std::int64_t row_id, std::int64_t text_checksum) {
  return {row_id,         cells.integer(kRecordedAt), cells.integer(21),
          text_checksum,  cells.integer_or_null(19),  cells.integer_or_null(24),
          cells.blob(2),  cells.text_or_null(5),      cells.text_or_null(25),
          cells.blob(26), cells.text_or_null(27),     cells.text_or_null(29)};
}

// New memories of one scope, and the events that say so, with their checksums.
class Births {
 public:
  Births(std::int64_t row_id, std::int64_t seq) : row_id_(row_id), seq_(seq) {}

  // False for a row with a value that its column cannot hold.
  bool add_memory(PyObject* row) {
    RowCells cells(row, kMemoryWidth, "rows");
    const TextRecord texts{row_id_, cells.text(4), cells.text(6)};
    const std::int64_t text = text_checksum(texts);
    const std::int64_t index = index_checksum(memory_of(cells, row_id_, seq_));
    const std::int64_t checksum = index << 32 | content_checksum(content_of(cells, row_id_, text));
    if (!cells.fits()) return false;
    NewTuple memory(kMemoryWidth + 2);
    memory.add(row_id_++);
    memory.add(seq_++);
    for (std::size_t i = 2; i < kMemoryWidth; ++i) memory.add(cells.object(i));
    memory.add(text);
    memory.add(checksum);
    memories.append(memory.filled());
    checksum_xor ^= checksum;
    return true;
  }

  // Of the memories, in their order.
  void add_events(const py::str& kind) {
    const std::string name = kind;
    for (std::size_t i = 0; i < memories.size(); ++i) {
      RowCells cells(PyList_GET_ITEM(memories.ptr(), static_cast<Py_ssize_t>(i)), kMemoryWidth + 2,
                     "memories");
      const std::int64_t memory = cells.integer(0);
      const std::int64_t scope = memory >> kNumberBits;
      const EventRecord record{
          seq_, scope, {name.data(), name.size()}, cells.integer(kRecordedAt), memory};
      NewTuple event(kEventWidth);
      event.add(seq_++);
      event.add(scope);
      event.add(kind.ptr());
      event.add(cells.object(kRecordedAt));
      event.add(cells.object(0));
      event.add(Py_None);
      event.add(event_checksum(record));
      events.append(event.filled());
    }
  }

  py::list memories;
  py::list events;
  std::int64_t checksum_xor = 0;

 private:
  std::int64_t row_id_;
  std::int64_t seq_;
};

py::object sealed_births(const py::list& rows, std::int64_t row_id, std::int64_t seq,
                         const py::object& kind) {
  Births births(row_id, seq);
  // No other thread changes the list: the interpreter's lock is kept, and nothing here calls
  // Python.
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!births.add_memory(PyList_GET_ITEM(rows.ptr(), static_cast<Py_ssize_t>(i)))) {
      return py::none();
    }
  }
  if (!kind.is_none()) births.add_events(kind);
  return py::make_tuple(births.memories, births.events, births.checksum_xor);
}

}  // namespace

void bind_row_seals(py::module_& m) {
  m.def("sealed_births", &sealed_births, py::arg("rows"), py::arg("row_id"), py::arg("seq"),
        py::arg("kind"),
        "Return new memories with checksums, events of a kind, and an XOR; None for unfit values.");
}

}  // namespace ebb::bindings
