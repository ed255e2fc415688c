// Walking over the set bits of words, and counting them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ebb {

// The lowest bit that is set; word is not 0.
inline std::size_t lowest_bit(std::uint64_t word) {
#if defined(__GNUC__)
  return static_cast<std::size_t>(__builtin_ctzll(word));
#else
  std::size_t at = 0;
  while ((word >> at & 1u) == 0) ++at;
  return at;
#endif
}

// In pairs, then fours, then bytes, which the multiplication adds up: the processors that every
// build must run on have no instruction for it.
inline std::size_t count_bits(std::uint64_t word) {
  word -= word >> 1 & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
  word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
  return static_cast<std::size_t>(word * 0x0101010101010101u >> 56);
}

}  // namespace ebb
