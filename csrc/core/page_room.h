// Where nothing lies on a page of an SQLite file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/span.h"

namespace ebb {

constexpr std::size_t kLargestPage = 65536;  // bytes

// From `begin` to below `end`; nothing where they are equal.
struct PageRoom {
  std::size_t begin;
  std::size_t end;
};

// The unallocated room of a b-tree page, between its cell pointers and its cells, for the page at
// `offset` of a file; nothing for what is no b-tree page, or a damaged one. Bytes in it mean
// nothing to SQLite.
PageRoom unallocated_room(Span<const unsigned char> page, std::int64_t offset);

}  // namespace ebb
