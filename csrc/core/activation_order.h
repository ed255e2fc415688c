// The order of a result: higher activation first, then lower node.
//
// By radix on some leading bits, then by comparing what these leave undecided: time is linear
// unless most activations are nearly, but not quite, alike.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/list.h"

namespace ebb {

struct RankedPlace {
  std::uint32_t prefix;  // rises as activation falls
  std::uint32_t place;
};

// The leading bits of an activation from 0 to 1: the bits of doubles above 0 rise with them. Six
// are for the power of two (what is below 2^-64 shares the last prefix), 26 for the digits.
inline std::uint32_t falling_prefix(double activation) {
  constexpr std::uint64_t kBitsOfOne = 0x3FF0000000000000, kMost = 0xFFFFFFFF;
  std::uint64_t bits;
  std::memcpy(&bits, &activation, sizeof(bits));
  return static_cast<std::uint32_t>(std::min((kBitsOfOne - bits) >> 26, kMost));
}

namespace activation_order {

template <int kBits>
void distribute(List<RankedPlace>& entries, List<RankedPlace>& room, int shift) {
  constexpr std::uint32_t kMask = (1u << kBits) - 1;
  std::array<std::uint32_t, kMask + 1> ends{};
  for (const RankedPlace& one : entries) ++ends[(one.prefix >> shift) & kMask];
  std::uint32_t begin = 0;
  for (std::uint32_t& end : ends) {
    const std::uint32_t count = end;
    end = begin;
    begin += count;
  }
  RankedPlace* const to = room.resize_for_overwrite(entries.size());
  for (const RankedPlace& one : entries) to[ends[(one.prefix >> shift) & kMask]++] = one;
  entries.swap(room);
}

// Leaves 32 - 2 * kBits bits undecided.
template <int kBits>
int sort_by_prefix(List<RankedPlace>& entries, List<RankedPlace>& room) {
  distribute<kBits>(entries, room, 32 - 2 * kBits);
  distribute<kBits>(entries, room, 32 - kBits);
  return 32 - 2 * kBits;
}

template <typename Before>
void insertion_sort(RankedPlace* first, RankedPlace* last, Before before) {
  for (RankedPlace* i = first; i != last; ++i) {
    const RankedPlace one = *i;
    RankedPlace* at = i;
    for (; at != first && before(one, at[-1]); --at) *at = at[-1];
    *at = one;
  }
}

}  // namespace activation_order

// `before` compares places; it must agree with the prefixes. `room` is for the sort to write to.
template <typename Before>
void sort_by_activation(List<RankedPlace>& entries, List<RankedPlace>& room, Before before) {
  constexpr std::size_t kMany = std::size_t{1} << 12;
  constexpr std::ptrdiff_t kFew = 24;
  const auto comes_first = [&](const RankedPlace& a, const RankedPlace& b) {
    return a.prefix != b.prefix ? a.prefix < b.prefix : before(a.place, b.place);
  };
  int undecided = 32;
  if (entries.size() > static_cast<std::size_t>(kFew)) {
    undecided = entries.size() < kMany ? activation_order::sort_by_prefix<8>(entries, room)
                                       : activation_order::sort_by_prefix<11>(entries, room);
  }
  const auto cell = [&](const RankedPlace& one) { return std::uint64_t{one.prefix} >> undecided; };
  for (RankedPlace* first = entries.begin(); first != entries.end();) {
    RankedPlace* last = first + 1;
    while (last != entries.end() && cell(*last) == cell(*first)) ++last;
    if (last - first > kFew) {
      // Mostly equal activations, and then often in order already.
      if (!std::is_sorted(first, last, comes_first)) std::sort(first, last, comes_first);
    } else if (last - first > 1) {
      activation_order::insertion_sort(first, last, comes_first);
    }
    first = last;
  }
}

}  // namespace ebb
