// _core._testing: codes of rows, kernel by kernel and as an arena keeps them.
#include <pybind11/pybind11.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arguments.h"
#include "bindings/numpy_views.h"
#include "bindings/topics.h"
#include "core/arena.h"
#include "core/code_panels.h"
#include "core/codes.h"
#include "core/dispatch.h"
#include "core/dot_ranges.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

Span<const float> lanes_of(const py::object& row) {
  const Span<const float> values = vector_view<float>(row, "row");
  if (values.size % kLanes == 0) return values;
  throw ShapeError("row", "a multiple of 16 values", std::to_string(values.size));
}

py::tuple row_extent(const std::string& isa, const py::object& row) {
  const Span<const float> values = lanes_of(row);
  const RowExtent extent = find(isa).row_extent(values.data, values.size);
  return py::make_tuple(extent.largest, extent.smallest, extent.squares);
}

py::tuple quantise_row(const std::string& isa, const py::object& row, float inverse, float scale) {
  const Span<const float> values = lanes_of(row);
  std::vector<std::int8_t> codes(values.size);
  const float squares =
      find(isa).quantise_row(values.data, values.size, inverse, scale, codes.data());
  return py::make_tuple(to_numpy(std::move(codes)), squares);
}

py::tuple dot_codes(const std::string& isa, const py::object& query, const py::object& rows) {
  const py::array array = checked_array<std::int8_t>(rows, "rows", 2);
  const auto count = static_cast<std::size_t>(array.shape(0));
  const auto dim = static_cast<std::size_t>(array.shape(1));
  if (dim % kCodeLanes != 0)
    throw ShapeError("rows", "a multiple of 32 columns", std::to_string(dim));
  const Span<const std::int8_t> q = vector_view<std::int8_t>(query, "query", dim);
  const auto* const codes = static_cast<const std::int8_t*>(array.data());
  std::vector<const std::int8_t*> places(count);
  for (std::size_t i = 0; i < count; ++i) places[i] = codes + i * dim;
  std::vector<std::int32_t> in_order(count);
  std::vector<std::int32_t> anywhere(count);
  find(isa).dot_codes(q.data, codes, dim, count, dim, in_order.data());
  find(isa).dot_codes_at(q.data, places.data(), count, dim, anywhere.data());
  return py::make_tuple(to_numpy(std::move(in_order)), to_numpy(std::move(anywhere)));
}

py::array_t<std::int32_t> dot_tile(const std::string& isa, const py::object& queries,
                                   const py::object& rows) {
  const py::array query_array = checked_array<std::int8_t>(queries, "queries", 2);
  const py::array row_array = checked_array<std::int8_t>(rows, "rows", 2);
  const auto dim = static_cast<std::size_t>(row_array.shape(1));
  const auto count = static_cast<std::size_t>(row_array.shape(0));
  if (query_array.shape(0) != static_cast<py::ssize_t>(kPanelQueries) ||
      query_array.shape(1) != row_array.shape(1) || dim % kCodeLanes != 0 || count == 0) {
    throw ShapeError("queries", "16 rows as long as `rows`", shape_text(query_array));
  }
  std::vector<std::int8_t> panel(kPanelQueries * dim);
  for (std::size_t q = 0; q < kPanelQueries; ++q) {
    pack_query(static_cast<const std::int8_t*>(query_array.data()) + q * dim, dim, q, panel.data());
  }
  const std::size_t stride = (count + 3) / 4 * 4;
  std::vector<std::int32_t> dots(kPanelQueries * stride);
  find(isa).dot_tile(panel.data(), static_cast<const std::int8_t*>(row_array.data()), dim, count,
                     dim, dots.data(), stride);
  py::array_t<std::int32_t> out({kPanelQueries, count});
  for (std::size_t q = 0; q < kPanelQueries; ++q) {
    std::copy_n(dots.data() + q * stride, count, out.mutable_data() + q * count);
  }
  return out;
}

// parts: scale, error and norm, then perhaps weight and offset; query: scale, error, norm, floor.
py::array_t<std::int64_t> found_by_reach(const std::string& isa, const py::object& dots,
                                         const py::object& parts, const py::object& query) {
  const Span<const std::int32_t> sums = vector_view<std::int32_t>(dots, "dots");
  const py::array array = checked_array<float>(parts, "parts", 2);
  const Span<const float> asked = vector_view<float>(query, "query", 4);
  const auto part = [&](py::ssize_t i) {
    const auto* const first = static_cast<const float*>(array.data());
    return i < array.shape(0) ? first + i * array.shape(1) : nullptr;
  };
  const ReachRows rows = {part(0), part(1), part(2), part(3), part(4)};
  std::vector<std::uint16_t> bits(sums.size / 16 + 1);
  find(isa).reach(sums.data, rows, {asked[0], asked[1], asked[2], asked[3]}, sums.size,
                  bits.data());
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < bits.size() * 16; ++i) {
    if ((bits[i / 16] >> i % 16 & 1) != 0) found.push_back(static_cast<std::int64_t>(i));
  }
  return to_numpy(std::move(found));
}

py::tuple codes_of(const Arena& arena, const py::object& slot) {
  const std::int64_t number = checked_slot(slot, "slot");
  std::vector<std::int8_t> codes;
  CodeBound bound;
  {
    const py::gil_scoped_release nogil;
    const Arena::View rows = arena.read();
    check_slots({&number, 1}, rows.size(), "slot");
    const auto index = static_cast<std::size_t>(number);
    if (arena.code_dim() > 0) {
      codes.assign(rows.codes(index), rows.codes(index) + arena.code_dim());
      bound = rows.bound(index);
    }
  }
  return py::make_tuple(to_numpy(std::move(codes)), bound.scale, bound.error, bound.norm);
}

py::tuple ranges(const Arena& arena, const py::object& query, const py::object& slots) {
  const Span<const float> values = vector_view<float>(query, "query", arena.dim());
  const Span<const std::int32_t> numbers = vector_view<std::int32_t>(slots, "slots");
  std::vector<float> padded(arena.padded_dim());
  std::copy(values.begin(), values.end(), padded.begin());
  std::vector<DotRange> found(numbers.size);
  {
    const py::gil_scoped_release nogil;
    const CodedQuery coded(padded.data(), arena.padded_dim(), arena.code_dim());
    dot_ranges(arena.read(), coded, numbers, found.data());
  }
  std::vector<double> lower(found.size());
  std::vector<double> upper(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    lower[i] = found[i].lower;
    upper[i] = found[i].upper;
  }
  return py::make_tuple(to_numpy(std::move(lower)), to_numpy(std::move(upper)));
}

}  // namespace

void bind_testing_codes(py::module_& testing) {
  testing.def("row_extent", &row_extent, py::arg("isa"), py::arg("row"));
  testing.def("quantise_row", &quantise_row, py::arg("isa"), py::arg("row"), py::arg("inverse"),
              py::arg("scale"));
  testing.def("dot_codes", &dot_codes, py::arg("isa"), py::arg("query"), py::arg("rows"));
  testing.def("dot_tile", &dot_tile, py::arg("isa"), py::arg("queries"), py::arg("rows"));
  testing.def("reach", &found_by_reach, py::arg("isa"), py::arg("dots"), py::arg("parts"),
              py::arg("query"));
  testing.def("codes_of", &codes_of, py::arg("arena"), py::arg("slot"));
  testing.def("dot_ranges", &ranges, py::arg("arena"), py::arg("query"), py::arg("slots"));
}

}  // namespace ebb::bindings
