// The order of a result: higher activation first, then lower node; in time that is linear unless
// nearly all activations are alike.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/node_order.h"

namespace ebb {

struct Activated {
  std::uint64_t key;  // falling_key of the activation
  std::uint32_t node;
  std::uint32_t place;
};

constexpr std::uint64_t kBitsOfOne = 0x3FF0000000000000;

// Rises strictly as the activation, from 0 to 1, falls: the bits of doubles above 0 rise with them.
inline std::uint64_t falling_key(double activation) {
  std::uint64_t bits;
  std::memcpy(&bits, &activation, sizeof(bits));
  return kBitsOfOne - bits;
}

inline double activation_of(std::uint64_t key) {
  const std::uint64_t bits = kBitsOfOne - key;
  double activation;
  std::memcpy(&activation, &bits, sizeof(bits));
  return activation;
}

// Spreads entries over buckets by the leading bits of their keys, then sorts each bucket. `room`
// and `ends` are for the sort to write to; every node is below `nodes`.
inline void sort_by_activation(std::vector<Activated>& entries, std::vector<Activated>& room,
                               std::vector<std::uint32_t>& ends, std::uint64_t nodes) {
  constexpr std::size_t kFew = 32, kMany = std::size_t{1} << 12, kMostBuckets = 1u << 16;
  const auto before = [](const Activated& a, const Activated& b) {
    return a.key != b.key ? a.key < b.key : a.node < b.node;
  };
  if (entries.size() <= kFew) return std::sort(entries.begin(), entries.end(), before);
  // Many may share an activation of 1: with the nodes in order, their bucket is so already.
  if (entries.size() >= kMany) sort_by_node(entries, room, nodes);
  std::uint64_t most = 0;
  for (const Activated& one : entries) most = std::max(most, one.key);
  std::size_t buckets = 1;
  while (buckets < entries.size() && buckets < kMostBuckets) buckets *= 2;
  int shift = 0;
  while (most >> shift >= buckets) ++shift;

  ends.assign(buckets + 1, 0);
  for (const Activated& one : entries) ++ends[(one.key >> shift) + 1];
  for (std::size_t i = 1; i <= buckets; ++i) ends[i] += ends[i - 1];
  room.resize(entries.size());
  for (const Activated& one : entries) room[ends[one.key >> shift]++] = one;
  entries.swap(room);
  std::uint32_t begin = 0;
  for (std::size_t i = 0; i < buckets; ++i) {
    const auto first = entries.begin() + begin, last = entries.begin() + ends[i];
    if (last - first > 1 && !std::is_sorted(first, last, before)) std::sort(first, last, before);
    begin = ends[i];
  }
}

}  // namespace ebb
