// F64 on one zmm register: eight lanes.
#pragma once

struct F64 {
  __m512d lanes;
};

constexpr std::size_t kF64Lanes = 8;

inline F64 f64(double x) { return {_mm512_set1_pd(x)}; }

inline F64 load(const double* p) { return {_mm512_loadu_pd(p)}; }

inline void store(double* p, const F64& a) { _mm512_storeu_pd(p, a.lanes); }

inline F64 add(const F64& a, const F64& b) { return {_mm512_add_pd(a.lanes, b.lanes)}; }

inline F64 sub(const F64& a, const F64& b) { return {_mm512_sub_pd(a.lanes, b.lanes)}; }

inline F64 mul(const F64& a, const F64& b) { return {_mm512_mul_pd(a.lanes, b.lanes)}; }

inline F64 div(const F64& a, const F64& b) { return {_mm512_div_pd(a.lanes, b.lanes)}; }

inline F64 negative(const F64& a) { return {_mm512_xor_pd(a.lanes, _mm512_set1_pd(-0.0))}; }

// Where the two cannot be ordered or are equal, min and max give b.
inline F64 min(const F64& a, const F64& b) { return {_mm512_min_pd(a.lanes, b.lanes)}; }

inline F64 max(const F64& a, const F64& b) { return {_mm512_max_pd(a.lanes, b.lanes)}; }

// a where x >= limit, elsewhere (and where they cannot be ordered) b.
inline F64 choose_at_least(const F64& x, const F64& limit, const F64& a, const F64& b) {
  const __mmask8 where = _mm512_cmp_pd_mask(x.lanes, limit.lanes, _CMP_GE_OQ);
  return {_mm512_mask_blend_pd(where, b.lanes, a.lanes)};
}

// Every bit that one of the two has.
inline F64 bits_or(const F64& a, const F64& b) { return {_mm512_or_pd(a.lanes, b.lanes)}; }

inline __m512i u64(std::uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }

inline __m512d as_doubles(__m512i bits) { return _mm512_castsi512_pd(bits); }

inline __m512i as_bits(__m512d a) { return _mm512_castpd_si512(a); }

// The upper 26 bits of the significand.
inline F64 upper_half(const F64& a) {
  return {_mm512_and_pd(a.lanes, as_doubles(u64(~std::uint64_t{0x7ffffff})))};
}

// Nearest integer, halves to even, for |a| < 2^51. Adding 1.5 * 2^52 leaves no bit for fractions.
inline F64 round_even(const F64& a) { return sub(add(a, f64(0x1.8p52)), f64(0x1.8p52)); }

// a = 2^octave(a) * mantissa(a) with the mantissa in [sqrt(1/2), sqrt(2)), for a positive, normal,
// finite a. Above the bits of sqrt(1/2) counts as the next octave; 1024 octaves keep it positive.
constexpr std::uint64_t kSqrtHalfBits = 0x3fe6a09e667f3bcd;
constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << 52) - 1;
constexpr std::uint64_t kOctaveShift = (std::uint64_t{1024} << 52) - kSqrtHalfBits;

inline F64 octave(const F64& a) {
  const __m512i moved = _mm512_add_epi64(as_bits(a.lanes), u64(kOctaveShift));
  const __m512d number = _mm512_cvtepi64_pd(_mm512_srli_epi64(moved, 52));
  return {_mm512_sub_pd(number, _mm512_set1_pd(1024.0))};
}

inline F64 mantissa(const F64& a) {
  const __m512i moved = _mm512_add_epi64(as_bits(a.lanes), u64(kOctaveShift));
  return {as_doubles(
      _mm512_add_epi64(_mm512_and_si512(moved, u64(kMantissaMask)), u64(kSqrtHalfBits)))};
}

// a * 2^n for integer-valued n in [-1100, 1100] and a in [1/2, 2], rounded once.
inline F64 scale_by_power(const F64& a, const F64& n) {
  return {_mm512_scalef_pd(a.lanes, n.lanes)};
}

// now - since as doubles, at least 0; like the difference, it wraps around.
inline F64 load_since(const std::int64_t* since, std::int64_t now) {
  const __m512i gone = _mm512_sub_epi64(_mm512_set1_epi64(now), _mm512_loadu_si512(since));
  return {_mm512_cvtepi64_pd(_mm512_max_epi64(gone, _mm512_setzero_si512()))};
}

// From and to floats in memory, one per lane.
inline F64 load_wide(const float* p) { return {_mm512_cvtps_pd(_mm256_loadu_ps(p))}; }

inline void store_narrow(float* p, const F64& a) { _mm256_storeu_ps(p, _mm512_cvtpd_ps(a.lanes)); }
