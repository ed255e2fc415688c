// Every kernel of a table, over inputs of the size that its callers give it.
#include <cmath>
#include <memory>

#include "cases.h"

namespace counted {

namespace {

constexpr std::size_t kDim = 256;
constexpr std::size_t kRows = 64;
constexpr std::size_t kValues = 4096;
constexpr std::size_t kSlots = 8192;

std::vector<std::int8_t> codes(std::size_t count, std::uint64_t seed) {
  Numbers numbers(seed);
  std::vector<std::int8_t> made(count);
  for (std::int8_t& code : made) {
    code = static_cast<std::int8_t>(static_cast<int>(numbers.below(255)) - 127);
  }
  return made;
}

Work dot_rows(const ebb::KernelTable& table) {
  return [&table, rows = unit_rows(kRows, kDim, 1), out = std::vector<float>(kRows)]() mutable {
    table.dot_rows(rows.data(), rows.data(), kDim, kRows, kDim, out.data());
  };
}

Work exp_f32(const ebb::KernelTable& table) {
  std::vector<float> x(kValues);
  for (std::size_t i = 0; i < kValues; ++i) x[i] = -90.0f * static_cast<float>(i) / kValues;
  return [&table, x, out = x]() mutable { table.exp_f32(x.data(), kValues, out.data()); };
}

Work row_extent(const ebb::KernelTable& table) {
  return [&table, rows = unit_rows(kRows, kDim, 2)] {
    for (std::size_t i = 0; i < kRows; ++i) table.row_extent(rows.data() + i * kDim, kDim);
  };
}

Work quantise_row(const ebb::KernelTable& table) {
  return [&table, rows = unit_rows(kRows, kDim, 3), out = codes(kDim, 0)]() mutable {
    for (std::size_t i = 0; i < kRows; ++i) {
      table.quantise_row(rows.data() + i * kDim, kDim, 127.0f, 1.0f / 127.0f, out.data());
    }
  };
}

Work dot_codes(const ebb::KernelTable& table) {
  return [&table, query = codes(kDim, 4), rows = codes(kRows * kDim, 5),
          out = std::vector<std::int32_t>(kRows)]() mutable {
    table.dot_codes(query.data(), rows.data(), kDim, kRows, kDim, out.data());
  };
}

Work dot_codes_at(const ebb::KernelTable& table) {
  const auto rows = std::make_shared<std::vector<std::int8_t>>(codes(kRows * kDim, 6));
  std::vector<const std::int8_t*> places;
  for (std::size_t i = 0; i < kRows; ++i) places.push_back(rows->data() + (i * 37 % kRows) * kDim);
  return [&table, rows, places, query = codes(kDim, 7),
          out = std::vector<std::int32_t>(kRows)]() mutable {
    table.dot_codes_at(query.data(), places.data(), kRows, kDim, out.data());
  };
}

Work add_where_i16(const ebb::KernelTable& table) {
  Numbers numbers(8);
  std::vector<std::uint64_t> bits(kSlots / 64);
  for (std::uint64_t& word : bits) word = numbers.below(std::size_t{1} << 31) << 20;
  return [&table, bits, sums = std::vector<std::int16_t>(kSlots)]() mutable {
    table.add_where_i16(bits.data(), bits.size(), 3, sums.data());
  };
}

Work select_above_i16(const ebb::KernelTable& table) {
  Numbers numbers(9);
  std::vector<std::int16_t> sums(kSlots);
  for (std::int16_t& sum : sums) sum = static_cast<std::int16_t>(numbers.below(100));
  return [&table, sums, out = std::vector<std::uint16_t>(kSlots)]() mutable {
    table.select_above_i16(sums.data(), kSlots, 97, out.data());
  };
}

}  // namespace

std::vector<float> unit_rows(std::size_t count, std::size_t dim, std::uint64_t seed) {
  const std::size_t padded = (dim + ebb::kLanes - 1) / ebb::kLanes * ebb::kLanes;
  Numbers numbers(seed);
  std::vector<float> rows(count * padded, 0.0f);
  for (std::size_t i = 0; i < count; ++i) {
    float squares = 0.0f;
    for (std::size_t j = 0; j < dim; ++j) {
      rows[i * padded + j] = numbers.real();
      squares += rows[i * padded + j] * rows[i * padded + j];
    }
    for (std::size_t j = 0; j < dim; ++j) rows[i * padded + j] /= std::sqrt(squares);
  }
  return rows;
}

Cases kernel_cases(const ebb::KernelTable& table) {
  return {
      {"kernel dot_rows, 64 x 256", [&] { return dot_rows(table); }},
      {"kernel exp_f32, 4096", [&] { return exp_f32(table); }},
      {"kernel row_extent, 64 x 256", [&] { return row_extent(table); }},
      {"kernel quantise_row, 64 x 256", [&] { return quantise_row(table); }},
      {"kernel dot_codes, 64 x 256", [&] { return dot_codes(table); }},
      {"kernel dot_codes_at, 64 x 256", [&] { return dot_codes_at(table); }},
      {"kernel add_where_i16, 8192", [&] { return add_where_i16(table); }},
      {"kernel select_above_i16, 8192", [&] { return select_above_i16(table); }},
  };
}

}  // namespace counted
