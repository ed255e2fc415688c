// U8x64 on two ymm registers: lanes 0-31 are `lo`, 32-63 are `hi`.
// Includes nothing, so that it can stand inside a target region.
#pragma once

struct U8x64 {
  __m256i lo, hi;
};

inline U8x64 load_u8(const unsigned char* p) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32))};
}

inline U8x64 low_nibbles(const U8x64& a) {
  const __m256i mask = _mm256_set1_epi8(15);
  return {_mm256_and_si256(a.lo, mask), _mm256_and_si256(a.hi, mask)};
}

inline U8x64 high_nibbles(const U8x64& a) {
  return low_nibbles({_mm256_srli_epi16(a.lo, 4), _mm256_srli_epi16(a.hi, 4)});
}

// table[nibble] of each lane, for a table of 16.
inline U8x64 looked_up(const unsigned char* table, const U8x64& nibbles) {
  const __m256i both =
      _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
  return {_mm256_shuffle_epi8(both, nibbles.lo), _mm256_shuffle_epi8(both, nibbles.hi)};
}

inline std::uint32_t zero_lanes(__m256i a) {
  return static_cast<std::uint32_t>(
      _mm256_movemask_epi8(_mm256_cmpeq_epi8(a, _mm256_setzero_si256())));
}

// Bit l is set where lane l of the two have a bit in common.
inline std::uint64_t lanes_that_meet(const U8x64& a, const U8x64& b) {
  const std::uint64_t low = zero_lanes(_mm256_and_si256(a.lo, b.lo));
  const std::uint64_t high = zero_lanes(_mm256_and_si256(a.hi, b.hi));
  return ~(high << 32 | low);
}
