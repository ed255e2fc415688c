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
constexpr std::size_t kIndexWidth = 18;
constexpr std::size_t kStrengthWidth = 5;
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

// The text's checksum, and that of the whole.
std::pair<std::int64_t, std::int64_t> checksums_of(RowCells& cells, std::int64_t row_id,
                                                   std::int64_t seq) {
  const std::int64_t text = text_checksum({row_id, cells.text(4), cells.text(6)});
  const std::int64_t index = index_checksum(memory_of(cells, row_id, seq));
  return {text, index << 32 | content_checksum(content_of(cells, row_id, text))};
}

// New memories of one scope, and the events that say so, with their checksums.
class Births {
 public:
  // Those of the first memory; the last memory's, or event's, are numbers still.
  Births(std::int64_t row_id, std::int64_t seq) : row_id_(row_id), seq_(seq) {}

  // False for a row with a value that its column cannot hold.
  bool add_memory(PyObject* row) {
    RowCells cells(row, kMemoryWidth, "rows");
    const std::int64_t row_id = row_id_ + static_cast<std::int64_t>(memories.size());
    const std::int64_t seq = next_seq();
    const auto [text, checksum] = checksums_of(cells, row_id, seq);
    if (!cells.fits()) return false;
    NewTuple memory(kMemoryWidth + 2);
    memory.add(row_id);
    memory.add(seq);
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
          next_seq(), scope, {name.data(), name.size()}, cells.integer(kRecordedAt), memory, {}};
      NewTuple event(kEventWidth);
      event.add(record.seq);
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
  std::int64_t next_seq() const {
    return seq_ + static_cast<std::int64_t>(memories.size() + events.size());
  }

  std::int64_t row_id_;
  std::int64_t seq_;
};

py::object sealed_births(const py::list& rows, std::int64_t row_id, std::int64_t seq,
                         const py::object& kind) {
  // Making tuples may start a collection of garbage, and with it code that changes the list.
  const py::tuple held(rows);
  const std::size_t seqs = kind.is_none() ? held.size() : 2 * held.size();
  if (!numbers_fit(row_id, held.size()) || !numbers_fit(seq, seqs)) return py::none();
  Births births(row_id, seq);
  for (const py::handle row : held) {
    if (!births.add_memory(row.ptr())) return py::none();
  }
  if (!kind.is_none()) births.add_events(kind);
  return py::make_tuple(births.memories, births.events, births.checksum_xor);
}

// How many memories, from the first, are as they were written; their checksums come last.
std::size_t agreeing_memories(const py::list& rows) {
  std::size_t count = 0;
  for (; count < rows.size(); ++count) {
    RowCells cells(PyList_GET_ITEM(rows.ptr(), static_cast<Py_ssize_t>(count)), kMemoryWidth + 2,
                   "rows");
    const std::pair kept{cells.integer(kMemoryWidth), cells.integer(kMemoryWidth + 1)};
    const std::pair found = checksums_of(cells, cells.integer(0), cells.integer(1));
    if (!cells.fits() || found != kept) break;
  }
  return count;
}

// Memories as they are in their table, each with what its strengths are now, by row: what is to be
// written of them, and an XOR of all checksums, old and new. None for a row that does not agree
// with its checksum, and for a value that does not fit.
py::object sealed_strengths(const py::list& rows, const py::dict& strengths, std::int64_t seq) {
  constexpr std::int64_t kLow = 0xFFFFFFFF;
  py::list sealed;
  std::int64_t checksum_xor = 0;
  const py::tuple held(rows);  // as the rows above
  if (!numbers_fit(seq, held.size())) return py::none();
  for (const py::handle one : held) {
    RowCells cells(one.ptr(), kIndexWidth + 1, "rows");
    MemoryRecord memory = indexed_memory(cells);
    const std::int64_t old = cells.integer(kIndexWidth);
    if (!cells.fits() || index_checksum(memory) != old >> 32) return py::none();
    const py::object key = py::reinterpret_borrow<py::object>(cells.object(0));
    const py::object told = strengths[key];
    RowCells now(told.ptr(), kStrengthWidth, "strengths");
    memory.storage_strength = now.real(1);
    memory.r_anchor = now.real(2);
    memory.anchored_at = now.integer(3);
    memory.access_count = now.integer(4);
    memory.seq = seq + static_cast<std::int64_t>(sealed.size());
    if (!now.fits()) return py::none();
    const std::int64_t checksum = index_checksum(memory) << 32 | (old & kLow);
    NewTuple row(kStrengthWidth + 2);
    for (std::size_t i = 1; i < kStrengthWidth; ++i) row.add(now.object(i));
    row.add(memory.seq);
    row.add(checksum);
    row.add(key.ptr());
    sealed.append(row.filled());
    checksum_xor ^= old ^ checksum;
  }
  return py::make_tuple(sealed, checksum_xor);
}

// Events of one scope and kind that are of no one memory; None for a value that does not fit.
py::object sealed_events(std::int64_t scope, std::int64_t seq, const py::str& kind,
                         const py::list& events) {
  const std::string name = kind;
  py::list sealed;
  const py::tuple held(events);  // as the rows above
  if (!numbers_fit(seq, held.size())) return py::none();
  for (const py::handle one : held) {
    RowCells cells(one.ptr(), 2, "events");
    const EventRecord record{seq + static_cast<std::int64_t>(sealed.size()),
                             scope,
                             {name.data(), name.size()},
                             cells.integer(0),
                             kNull,
                             cells.blob(1)};
    if (!cells.fits()) return py::none();
    NewTuple event(kEventWidth);
    event.add(record.seq);
    event.add(scope);
    event.add(kind.ptr());
    event.add(cells.object(0));
    event.add(Py_None);
    event.add(cells.object(1));
    event.add(event_checksum(record));
    sealed.append(event.filled());
  }
  return sealed;
}

}  // namespace

void bind_row_seals(py::module_& m) {
  m.def("sealed_births", &sealed_births, py::arg("rows"), py::arg("row_id"), py::arg("seq"),
        py::arg("kind"),
        "Return new memories with checksums, events of a kind, and an XOR; None for unfit values.");
  m.def("agreeing_memories", &agreeing_memories, py::arg("rows"),
        "Return how many memories, from the first, agree with their checksums, which come last.");
  m.def(
      "sealed_strengths", &sealed_strengths, py::arg("rows"), py::arg("strengths"), py::arg("seq"),
      "Return what is written of memories with new strengths, and an XOR; None for unfit values.");
  m.def("sealed_events", &sealed_events, py::arg("scope_id"), py::arg("seq"), py::arg("kind"),
        py::arg("events"),
        "Return events, each a moment and a payload, with checksums; None for unfit values.");
}

}  // namespace ebb::bindings
