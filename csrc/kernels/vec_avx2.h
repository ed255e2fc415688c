// F32x16 on two ymm registers. Lanes 0-7 are `lo`, 8-15 are `hi`, so the first fold of the
// reduction tree is one addition of the two halves.
// Includes nothing, so that it can stand inside a target region.
#pragma once

struct F32x16 {
  __m256 lo, hi;
};

inline F32x16 zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }

inline F32x16 broadcast(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }

inline F32x16 load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }

inline void store(float* p, const F32x16& v) {
  _mm256_storeu_ps(p, v.lo);
  _mm256_storeu_ps(p + 8, v.hi);
}

inline F32x16 add(const F32x16& a, const F32x16& b) {
  return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}

inline F32x16 mul(const F32x16& a, const F32x16& b) {
  return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}

inline F32x16 sub(const F32x16& a, const F32x16& b) {
  return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
}

// Where the two cannot be ordered or are equal, min and max give b.
inline F32x16 min(const F32x16& a, const F32x16& b) {
  return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)};
}

inline F32x16 max(const F32x16& a, const F32x16& b) {
  return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}

// Nearest integer, halves to even, for |a| < 2^22. Adding 1.5 * 2^23 leaves no bit for fractions
// (and, unlike the rounding instruction, gives the scalar kernel's sign of zero).
inline F32x16 round_even(const F32x16& a) {
  const F32x16 rounder = broadcast(0x1.8p23f);
  return sub(add(a, rounder), rounder);
}

// a * 2^n for the integer n that is in the lowest bits of `rounded`, where a and the result are
// normal.
inline __m256 raised(__m256 a, __m256 rounded) {
  const __m256i octaves = _mm256_slli_epi32(_mm256_castps_si256(rounded), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), octaves));
}

inline F32x16 scale_by_low_bits(const F32x16& a, const F32x16& rounded) {
  return {raised(a.lo, rounded.lo), raised(a.hi, rounded.hi)};
}

// The upper 12 bits of the significand.
inline F32x16 upper_half(const F32x16& a) {
  const __m256 upper = _mm256_castsi256_ps(_mm256_set1_epi32(-0x1000));
  return {_mm256_and_ps(a.lo, upper), _mm256_and_ps(a.hi, upper)};
}

// Every bit that one of the two has.
inline F32x16 bits_or(const F32x16& a, const F32x16& b) {
  return {_mm256_or_ps(a.lo, b.lo), _mm256_or_ps(a.hi, b.hi)};
}

// a where x >= limit, elsewhere (and where they cannot be ordered) +0.
inline F32x16 zero_unless_at_least(const F32x16& x, const F32x16& limit, const F32x16& a) {
  return {_mm256_and_ps(_mm256_cmp_ps(x.lo, limit.lo, _CMP_GE_OQ), a.lo),
          _mm256_and_ps(_mm256_cmp_ps(x.hi, limit.hi, _CMP_GE_OQ), a.hi)};
}

inline float reduce_add(const F32x16& a) {
  const __m256 eight = _mm256_add_ps(a.lo, a.hi);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  const __m128 one = _mm_add_ss(two, _mm_shuffle_ps(two, two, 1));
  return _mm_cvtss_f32(one);
}

inline F32x16 load_integers(const std::int32_t* p) {
  const auto* const halves = reinterpret_cast<const __m256i*>(p);
  return {_mm256_cvtepi32_ps(_mm256_loadu_si256(halves)),
          _mm256_cvtepi32_ps(_mm256_loadu_si256(halves + 1))};
}

// Bit l is set unless lane l of a is less than that of b; NaN is not less.
inline std::uint32_t not_less(const F32x16& a, const F32x16& b) {
  const auto low =
      static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(a.lo, b.lo, _CMP_NLT_UQ)));
  const auto high =
      static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(a.hi, b.hi, _CMP_NLT_UQ)));
  return low | high << 8;
}
