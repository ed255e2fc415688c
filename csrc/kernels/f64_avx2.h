// F64 on one ymm register: four lanes.
#pragma once

struct F64 {
  __m256d lanes;
};

constexpr std::size_t kF64Lanes = 4;

inline F64 f64(double x) { return {_mm256_set1_pd(x)}; }

inline F64 load(const double* p) { return {_mm256_loadu_pd(p)}; }

inline void store(double* p, const F64& a) { _mm256_storeu_pd(p, a.lanes); }

inline F64 add(const F64& a, const F64& b) { return {_mm256_add_pd(a.lanes, b.lanes)}; }

inline F64 sub(const F64& a, const F64& b) { return {_mm256_sub_pd(a.lanes, b.lanes)}; }

inline F64 mul(const F64& a, const F64& b) { return {_mm256_mul_pd(a.lanes, b.lanes)}; }

inline F64 div(const F64& a, const F64& b) { return {_mm256_div_pd(a.lanes, b.lanes)}; }

inline F64 negative(const F64& a) { return {_mm256_xor_pd(a.lanes, _mm256_set1_pd(-0.0))}; }

// Where the two cannot be ordered or are equal, min and max give b.
inline F64 min(const F64& a, const F64& b) { return {_mm256_min_pd(a.lanes, b.lanes)}; }

inline F64 max(const F64& a, const F64& b) { return {_mm256_max_pd(a.lanes, b.lanes)}; }

// a where x >= limit, elsewhere (and where they cannot be ordered) b.
inline F64 choose_at_least(const F64& x, const F64& limit, const F64& a, const F64& b) {
  return {_mm256_blendv_pd(b.lanes, a.lanes, _mm256_cmp_pd(x.lanes, limit.lanes, _CMP_GE_OQ))};
}

// Every bit that one of the two has.
inline F64 bits_or(const F64& a, const F64& b) { return {_mm256_or_pd(a.lanes, b.lanes)}; }

inline __m256i u64(std::uint64_t x) { return _mm256_set1_epi64x(static_cast<long long>(x)); }

inline __m256d as_doubles(__m256i bits) { return _mm256_castsi256_pd(bits); }

inline __m256i as_bits(__m256d a) { return _mm256_castpd_si256(a); }

// The upper 26 bits of the significand.
inline F64 upper_half(const F64& a) {
  return {_mm256_and_pd(a.lanes, as_doubles(u64(~std::uint64_t{0x7ffffff})))};
}

// Nearest integer, halves to even, for |a| < 2^51. Adding 1.5 * 2^52 leaves no bit for fractions.
inline F64 round_even(const F64& a) { return sub(add(a, f64(0x1.8p52)), f64(0x1.8p52)); }

// a = 2^octave(a) * mantissa(a) with the mantissa in [sqrt(1/2), sqrt(2)), for a positive, normal,
// finite a. Above the bits of sqrt(1/2) counts as the next octave; 1024 octaves keep it positive.
constexpr std::uint64_t kSqrtHalfBits = 0x3fe6a09e667f3bcd;
constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << 52) - 1;
constexpr std::uint64_t kOctaveShift = (std::uint64_t{1024} << 52) - kSqrtHalfBits;

inline F64 octave(const F64& a) {
  // An integer below 2^52 in the significand of 2^52 is that much above it.
  const __m256i number =
      _mm256_srli_epi64(_mm256_add_epi64(as_bits(a.lanes), u64(kOctaveShift)), 52);
  const __m256d above = as_doubles(_mm256_or_si256(number, as_bits(_mm256_set1_pd(0x1p52))));
  return {_mm256_sub_pd(above, _mm256_set1_pd(0x1p52 + 1024.0))};
}

inline F64 mantissa(const F64& a) {
  const __m256i moved = _mm256_add_epi64(as_bits(a.lanes), u64(kOctaveShift));
  return {as_doubles(
      _mm256_add_epi64(_mm256_and_si256(moved, u64(kMantissaMask)), u64(kSqrtHalfBits)))};
}

// 2 to the n for integer-valued n in [-1022, 1023].
inline F64 power_of_two(const F64& n) {
  const F64 biased = add(n, f64(0x1.8p52 + 1023.0));  // the integer is in the lowest bits
  return {as_doubles(_mm256_slli_epi64(as_bits(biased.lanes), 52))};
}

// a * 2^n for integer-valued n in [-1100, 1100] and a in [1/2, 2]: two steps, the first exact.
inline F64 scale_by_power(const F64& a, const F64& n) {
  const F64 most = min(max(n, f64(-1000.0)), f64(1000.0));
  return mul(mul(a, power_of_two(most)), power_of_two(sub(n, most)));
}

// now - since as doubles, at least 0; like the difference, it wraps around.
inline F64 load_since(const std::int64_t* since, std::int64_t now) {
  const __m256i given = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(since));
  const __m256i gone = _mm256_sub_epi64(_mm256_set1_epi64x(now), given);
  const __m256i below = _mm256_cmpgt_epi64(_mm256_setzero_si256(), gone);
  const __m256i kept = _mm256_andnot_si256(below, gone);
  // Either half of an integer is exact in the significand of a power of two; one sum rounds.
  const __m256i low = _mm256_blend_epi32(kept, as_bits(_mm256_set1_pd(0x1p52)), 0xaa);
  const __m256i high =
      _mm256_or_si256(_mm256_srli_epi64(kept, 32), as_bits(_mm256_set1_pd(0x1p84)));
  const __m256d upper = _mm256_sub_pd(as_doubles(high), _mm256_set1_pd(0x1p84 + 0x1p52));
  return {_mm256_add_pd(upper, as_doubles(low))};
}

// From and to floats in memory, one per lane.
inline F64 load_wide(const float* p) { return {_mm256_cvtps_pd(_mm_loadu_ps(p))}; }

inline void store_narrow(float* p, const F64& a) { _mm_storeu_ps(p, _mm256_cvtpd_ps(a.lanes)); }
