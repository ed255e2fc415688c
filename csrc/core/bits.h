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

inline std::size_t count_bits(std::uint64_t word) {
  std::size_t count = 0;
  for (; word != 0; word &= word - 1) ++count;
  return count;
}

}  // namespace ebb
