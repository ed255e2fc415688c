// Memories and links of a scope on their way from the records into an index: compared with their
// checksums, then kept by column. The rows of one scope go into one object each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory_columns.h"
#include "core/name_numbers.h"
#include "core/record_rows.h"

namespace ebb {

class MemoryLoad {
 public:
  std::size_t size() const { return columns_.size(); }
  // Of the checksums of all memories.
  std::int64_t checksum_xor() const { return checksum_xor_; }
  MemoryColumns& columns() { return columns_; }

  // False for a row that is not as it was written, by the upper half of its checksum: it is left
  // out. Throws std::bad_alloc, then the load is of no use.
  bool add(const MemoryRecord& row, std::int64_t checksum);

 private:
  MemoryColumns columns_;
  std::int64_t checksum_xor_ = 0;
};

class LinkLoad {
 public:
  std::size_t size() const { return source.size(); }

  // As that of MemoryLoad.
  bool add(const LinkRecord& row, std::int64_t checksum);

  std::vector<std::int64_t> source;  // row ids
  std::vector<std::int64_t> target;
  std::vector<double> weight;
  std::vector<std::int32_t> kind;  // of kinds
  NameNumbers kinds;
};

}  // namespace ebb
