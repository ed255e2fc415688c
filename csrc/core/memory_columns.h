// The columns that an index keeps of its memories, filled row by row when a scope is loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/name_numbers.h"
#include "core/record_rows.h"

namespace ebb {

// A column that is there only once some value is not the usual one.
template <typename T>
struct SeldomColumn {
  T usual;
  std::vector<T> values;

  // `row` values went before.
  void append(std::size_t row, T value) {
    if (values.empty()) {
      if (value == usual) return;
      values.assign(row, usual);
    }
    values.push_back(value);
  }
};

class MemoryColumns {
 public:
  static constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  std::size_t size() const { return row.size(); }

  // The tier is one that 8 bits hold. Throws std::bad_alloc, then the columns are of no use.
  void append(const MemoryRecord& memory);

  std::vector<std::int64_t> row;
  std::vector<std::int64_t> created_us;
  std::vector<std::int64_t> anchored_us;
  std::vector<std::int64_t> access_count;
  std::vector<double> importance;
  std::vector<double> intensity;
  std::vector<double> strength;
  std::vector<double> anchor;
  std::vector<std::int8_t> tier;
  SeldomColumn<std::int64_t> valid_from_us{kAlways, {}};
  SeldomColumn<std::int64_t> valid_to_us{kNever, {}};
  SeldomColumn<std::int64_t> expires_us{kNever, {}};
  SeldomColumn<std::int64_t> successor{0, {}};
  SeldomColumn<double> valence{0.0, {}};
  SeldomColumn<std::int32_t> kind{0, {}};  // of kinds
  SeldomColumn<std::int32_t> run{-1, {}};  // of runs; -1 for none
  SeldomColumn<std::uint8_t> pinned{0, {}};
  NameNumbers kinds;
  NameNumbers runs;
};

}  // namespace ebb
