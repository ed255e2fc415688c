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

// Writes a place with its total where that is at least 0, and else something to be overwritten.
// Returns where the next one goes.
inline RankedPlace* rank(double total, std::uint32_t place, RankedPlace* next) {
  next->prefix = falling_prefix(std::min(total, 1.0));
  next->place = place;
  return next + (total >= 0.0);
}

namespace activation_order {

// The place of each digit's first entry, from how many there are of it.
template <std::size_t kDigits>
void to_begins(std::array<std::uint32_t, kDigits>& counts) {
  std::uint32_t begin = 0;
  for (std::uint32_t& one : counts) {
    const std::uint32_t count = one;
    one = begin;
    begin += count;
  }
}

template <std::size_t kDigits, typename DigitOf>
void distribute(List<RankedPlace>& entries, List<RankedPlace>& room,
                std::array<std::uint32_t, kDigits>& begins, DigitOf digit_of) {
  RankedPlace* const to = room.resize_for_overwrite(entries.size());
  for (const RankedPlace& one : entries) to[begins[digit_of(one)]++] = one;
  entries.swap(room);
}

// By the leading 2 * kBits of the bits that are in use; returns how many that leaves undecided.
template <int kBits>
int sort_by_prefix(List<RankedPlace>& entries, List<RankedPlace>& room) {
  constexpr std::uint32_t kDigits = 1u << kBits;
  std::uint32_t used = 0;
  for (const RankedPlace& one : entries) used |= one.prefix;
  int undecided = 0;
  while ((used >> undecided) >> kBits >= kDigits) ++undecided;
  const auto low = [=](const RankedPlace& one) { return (one.prefix >> undecided) % kDigits; };
  const auto high = [=](const RankedPlace& one) { return (one.prefix >> undecided) / kDigits; };
  std::array<std::uint32_t, kDigits> lows{}, highs{};
  for (const RankedPlace& one : entries) {
    ++lows[low(one)];
    ++highs[high(one)];
  }
  to_begins(lows);
  to_begins(highs);
  distribute(entries, room, lows, low);
  distribute(entries, room, highs, high);
  return undecided;
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
