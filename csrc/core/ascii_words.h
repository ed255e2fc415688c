// The words of ASCII bytes, found 64 bytes at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/bits.h"
#include "core/dispatch.h"
#include "core/span.h"

namespace ebb {

constexpr std::size_t kAsciiBlock = 64;

// Write the runs of the bytes that `rows` tells (see CharacterSet::rows) to `out`, where there is
// room for half of `length`, rounded up; return where the next would go.
//
// `accept(done, count, members, after)` is asked about each block of `count` bytes from `done`: bit
// i of `members` is for the byte i of the block, that of `after` for a member before it. Where it
// says no, nothing counts and the result is null.
template <typename Accept>
Span<const char>* split_ascii(const char* bytes, std::size_t length, const unsigned char* rows,
                              Span<const char>* out, Accept accept) {
  const auto members_of = active().ascii_members;
  Span<const char>* begun = out;
  Span<const char>* ended = out;
  std::uint64_t before = 0;  // bit 0: whether the byte before the block is a member
  for (std::size_t done = 0; done < length; done += kAsciiBlock) {
    const std::size_t count = std::min(kAsciiBlock, length - done);
    const std::uint64_t members = members_of(bytes + done, count, rows);
    const std::uint64_t after = members << 1 | before;
    if (!accept(done, count, members, after)) return nullptr;
    for (std::uint64_t bits = members & ~after; bits != 0; bits &= bits - 1) {
      (begun++)->data = bytes + done + lowest_bit(bits);
    }
    for (std::uint64_t bits = ~members & after; bits != 0; bits &= bits - 1, ++ended) {
      ended->size = static_cast<std::size_t>(bytes + done + lowest_bit(bits) - ended->data);
    }
    before = members >> (kAsciiBlock - 1);
  }
  if (ended != begun) ended->size = static_cast<std::size_t>(bytes + length - ended->data);
  return begun;
}

}  // namespace ebb
