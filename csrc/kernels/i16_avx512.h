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

// The lanes with a * a >= least * value, all in float.
inline std::uint32_t bits_of_large_squares(const I16x32& a, const std::uint16_t* values,
                                           float least) {
  const __m512 all = _mm512_set1_ps(least);
  std::uint32_t bits = 0;
  for (int half = 0; half < 2; ++half) {
    const __m256i lanes =
        half == 0 ? _mm512_castsi512_si256(a.all) : _mm512_extracti64x4_epi64(a.all, 1);
    const auto* const at = reinterpret_cast<const __m256i*>(values + 16 * half);
    const __m512i value = _mm512_cvtepu16_epi32(_mm256_loadu_si256(at));
    const __m512 x = _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(lanes));
    const __m512 needed = _mm512_mul_ps(all, _mm512_cvtepi32_ps(value));
    const __mmask16 large = _mm512_cmp_ps_mask(_mm512_mul_ps(x, x), needed, _CMP_GE_OQ);
    bits |= static_cast<std::uint32_t>(large) << (16 * half);
  }
  return bits;
}

// The lowest bit that is set; bits is not 0.
inline unsigned lowest_bit(std::uint32_t bits) {
  return static_cast<unsigned>(__builtin_ctz(bits));
}
