// F32x16 on one zmm register, whose two halves are folded first: the reduction tree of the others.
// Includes nothing, so that it can stand inside a target region.
#pragma once

struct F32x16 {
  __m512 all;
};

inline F32x16 zero() { return {_mm512_setzero_ps()}; }

inline F32x16 broadcast(float x) { return {_mm512_set1_ps(x)}; }

inline F32x16 load(const float* p) { return {_mm512_loadu_ps(p)}; }

inline void store(float* p, const F32x16& v) { _mm512_storeu_ps(p, v.all); }

inline F32x16 add(const F32x16& a, const F32x16& b) { return {_mm512_add_ps(a.all, b.all)}; }

inline F32x16 mul(const F32x16& a, const F32x16& b) { return {_mm512_mul_ps(a.all, b.all)}; }

inline F32x16 sub(const F32x16& a, const F32x16& b) { return {_mm512_sub_ps(a.all, b.all)}; }

// Where the two cannot be ordered or are equal, min and max give b.
inline F32x16 min(const F32x16& a, const F32x16& b) { return {_mm512_min_ps(a.all, b.all)}; }

inline F32x16 max(const F32x16& a, const F32x16& b) { return {_mm512_max_ps(a.all, b.all)}; }

// Nearest integer, halves to even, for |a| < 2^22. Adding 1.5 * 2^23 leaves no bit for fractions
// (and, unlike the rounding instruction, gives the scalar kernel's sign of zero).
inline F32x16 round_even(const F32x16& a) {
  const F32x16 rounder = broadcast(0x1.8p23f);
  return sub(add(a, rounder), rounder);
}

// a * 2^n for the integer n that is in the lowest bits of `rounded`, where a and the result are
// normal.
inline F32x16 scale_by_low_bits(const F32x16& a, const F32x16& rounded) {
  const __m512i octaves = _mm512_slli_epi32(_mm512_castps_si512(rounded.all), 23);
  return {_mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a.all), octaves))};
}

// The upper 12 bits of the significand.
inline F32x16 upper_half(const F32x16& a) {
  return {_mm512_and_ps(a.all, _mm512_castsi512_ps(_mm512_set1_epi32(-0x1000)))};
}

// Every bit that one of the two has.
inline F32x16 bits_or(const F32x16& a, const F32x16& b) { return {_mm512_or_ps(a.all, b.all)}; }

// a where x >= limit, elsewhere (and where they cannot be ordered) +0.
inline F32x16 zero_unless_at_least(const F32x16& x, const F32x16& limit, const F32x16& a) {
  return {_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x.all, limit.all, _CMP_GE_OQ), a.all)};
}

inline float reduce_add(const F32x16& a) {
  const __m256 eight =
      _mm256_add_ps(_mm512_castps512_ps256(a.all), _mm512_extractf32x8_ps(a.all, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  const __m128 one = _mm_add_ss(two, _mm_shuffle_ps(two, two, 1));
  return _mm_cvtss_f32(one);
}

inline F32x16 load_integers(const std::int32_t* p) {
  return {_mm512_cvtepi32_ps(_mm512_loadu_si512(p))};
}

// Bit l is set unless lane l of a is less than that of b; NaN is not less.
inline std::uint32_t not_less(const F32x16& a, const F32x16& b) {
  return _mm512_cmp_ps_mask(a.all, b.all, _CMP_NLT_UQ);
}
