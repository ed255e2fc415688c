// I16x32 on one zmm register; bits of lanes are its masks.
#pragma once

struct I16x32 {
  __m512i all;
};

inline I16x32 i16_broadcast(std::int16_t x) { return {_mm512_set1_epi16(x)}; }

inline I16x32 load(const std::int16_t* p) { return {_mm512_loadu_si512(p)}; }

inline void store(std::int16_t* p, const I16x32& v) { _mm512_storeu_si512(p, v.all); }

// Wraps around.
inline I16x32 add(const I16x32& a, const I16x32& b) { return {_mm512_add_epi16(a.all, b.all)}; }

// a where the lane's bit is set, elsewhere 0.
inline I16x32 where_bits(std::uint32_t bits, const I16x32& a) {
  return {_mm512_maskz_mov_epi16(bits, a.all)};
}

// The lanes in which a > b.
inline std::uint32_t bits_above(const I16x32& a, const I16x32& b) {
  return _mm512_cmpgt_epi16_mask(a.all, b.all);
}

// The lowest bit that is set; bits is not 0.
inline unsigned lowest_bit(std::uint32_t bits) {
  return static_cast<unsigned>(__builtin_ctz(bits));
}
