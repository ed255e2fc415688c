// Sorting records by their `node`, a number below a known bound, in linear time and stably.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/list.h"

namespace ebb {

namespace node_order {

template <typename Record>
void insertion_sort(List<Record>& records) {
  for (std::size_t i = 1; i < records.size(); ++i) {
    const Record one = records[i];
    std::size_t at = i;
    for (; at > 0 && one.node < records[at - 1].node; --at) records[at] = records[at - 1];
    records[at] = one;
  }
}

// One pass over the digit of kBits bits from `shift` on.
template <int kBits, typename Record>
void distribute(const List<Record>& from, List<Record>& to, int shift) {
  constexpr std::uint32_t kMask = (1u << kBits) - 1;
  std::array<std::uint32_t, std::size_t{1} << kBits> ends{};
  for (const Record& one : from) ++ends[(one.node >> shift) & kMask];
  std::uint32_t begin = 0;
  for (std::uint32_t& end : ends) {
    const std::uint32_t count = end;
    end = begin;
    begin += count;
  }
  for (const Record& one : from) to[ends[(one.node >> shift) & kMask]++] = one;
}

template <int kBits, typename Record>
void radix_sort(List<Record>& records, List<Record>& other, std::uint64_t nodes) {
  for (int shift = 0; shift < 32 && (nodes - 1) >> shift != 0; shift += kBits) {
    distribute<kBits>(records, other, shift);
    records.swap(other);
  }
}

}  // namespace node_order

// Every node is below `nodes` (at most 2^32), and there are less than 2^32 records. Equal nodes
// keep their order. `room` is for the sort to write to.
template <typename Record>
void sort_by_node(List<Record>& records, List<Record>& room, std::uint64_t nodes) {
  constexpr std::size_t kFew = 24;         // below, comparing is faster than counting
  constexpr std::size_t kMany = 1u << 12;  // from here on, wide digits pay for their counters
  if (records.size() <= kFew) return node_order::insertion_sort(records);
  const auto before = [](const Record& a, const Record& b) { return a.node < b.node; };
  if (std::is_sorted(records.begin(), records.end(), before)) return;
  room.resize_for_overwrite(records.size());
  if (records.size() < kMany) return node_order::radix_sort<8>(records, room, nodes);
  node_order::radix_sort<11>(records, room, nodes);
}

}  // namespace ebb
