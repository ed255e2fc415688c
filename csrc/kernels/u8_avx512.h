// U8x64 on one zmm register.
// Includes nothing, so that it can stand inside a target region.
#pragma once

struct U8x64 {
  __m512i lanes;
};

inline U8x64 load_u8(const unsigned char* p) { return {_mm512_loadu_si512(p)}; }

inline U8x64 low_nibbles(const U8x64& a) {
  return {_mm512_and_si512(a.lanes, _mm512_set1_epi8(15))};
}

inline U8x64 high_nibbles(const U8x64& a) { return low_nibbles({_mm512_srli_epi16(a.lanes, 4)}); }

// table[nibble] of each lane, for a table of 16.
inline U8x64 looked_up(const unsigned char* table, const U8x64& nibbles) {
  const __m128i once = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
  return {_mm512_shuffle_epi8(_mm512_broadcast_i32x4(once), nibbles.lanes)};
}

// Bit l is set where lane l of the two have a bit in common.
inline std::uint64_t lanes_that_meet(const U8x64& a, const U8x64& b) {
  return _mm512_test_epi8_mask(a.lanes, b.lanes);
}
