// F64 on one q register: two lanes.
#pragma once

struct F64 {
  float64x2_t lanes;
};

constexpr std::size_t kF64Lanes = 2;

inline F64 f64(double x) { return {vdupq_n_f64(x)}; }

inline F64 load(const double* p) { return {vld1q_f64(p)}; }

inline void store(double* p, const F64& a) { vst1q_f64(p, a.lanes); }

inline F64 add(const F64& a, const F64& b) { return {vaddq_f64(a.lanes, b.lanes)}; }

inline F64 sub(const F64& a, const F64& b) { return {vsubq_f64(a.lanes, b.lanes)}; }

inline F64 mul(const F64& a, const F64& b) { return {vmulq_f64(a.lanes, b.lanes)}; }

inline F64 div(const F64& a, const F64& b) { return {vdivq_f64(a.lanes, b.lanes)}; }

inline F64 negative(const F64& a) { return {vnegq_f64(a.lanes)}; }

// Where the two cannot be ordered or are equal, min and max give b.
inline F64 min(const F64& a, const F64& b) {
  return {vbslq_f64(vcltq_f64(a.lanes, b.lanes), a.lanes, b.lanes)};
}

inline F64 max(const F64& a, const F64& b) {
  return {vbslq_f64(vcgtq_f64(a.lanes, b.lanes), a.lanes, b.lanes)};
}

// a where x >= limit, elsewhere (and where they cannot be ordered) b.
inline F64 choose_at_least(const F64& x, const F64& limit, const F64& a, const F64& b) {
  return {vbslq_f64(vcgeq_f64(x.lanes, limit.lanes), a.lanes, b.lanes)};
}

inline float64x2_t as_doubles(uint64x2_t bits) { return vreinterpretq_f64_u64(bits); }

inline uint64x2_t as_bits(float64x2_t a) { return vreinterpretq_u64_f64(a); }

// Every bit that one of the two has.
inline F64 bits_or(const F64& a, const F64& b) {
  return {as_doubles(vorrq_u64(as_bits(a.lanes), as_bits(b.lanes)))};
}

// The upper 26 bits of the significand.
inline F64 upper_half(const F64& a) {
  return {as_doubles(vandq_u64(as_bits(a.lanes), vdupq_n_u64(~std::uint64_t{0x7ffffff})))};
}

// Nearest integer, halves to even, for |a| < 2^51. Adding 1.5 * 2^52 leaves no bit for fractions.
inline F64 round_even(const F64& a) { return sub(add(a, f64(0x1.8p52)), f64(0x1.8p52)); }

// a = 2^octave(a) * mantissa(a) with the mantissa in [sqrt(1/2), sqrt(2)), for a positive, normal,
// finite a. Above the bits of sqrt(1/2) counts as the next octave; 1024 octaves keep it positive.
constexpr std::uint64_t kSqrtHalfBits = 0x3fe6a09e667f3bcd;
constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << 52) - 1;
constexpr std::uint64_t kOctaveShift = (std::uint64_t{1024} << 52) - kSqrtHalfBits;

inline F64 octave(const F64& a) {
  const uint64x2_t moved = vaddq_u64(as_bits(a.lanes), vdupq_n_u64(kOctaveShift));
  return {vsubq_f64(vcvtq_f64_u64(vshrq_n_u64(moved, 52)), vdupq_n_f64(1024.0))};
}

inline F64 mantissa(const F64& a) {
  const uint64x2_t moved = vaddq_u64(as_bits(a.lanes), vdupq_n_u64(kOctaveShift));
  const uint64x2_t below = vandq_u64(moved, vdupq_n_u64(kMantissaMask));
  return {as_doubles(vaddq_u64(below, vdupq_n_u64(kSqrtHalfBits)))};
}

// 2 to the n for integer-valued n in [-1022, 1023].
inline F64 power_of_two(const F64& n) {
  const int64x2_t biased = vaddq_s64(vcvtq_s64_f64(n.lanes), vdupq_n_s64(1023));
  return {vreinterpretq_f64_s64(vshlq_n_s64(biased, 52))};
}

// a * 2^n for integer-valued n in [-1100, 1100] and a in [1/2, 2]: two steps, the first exact.
inline F64 scale_by_power(const F64& a, const F64& n) {
  const F64 most = min(max(n, f64(-1000.0)), f64(1000.0));
  return mul(mul(a, power_of_two(most)), power_of_two(sub(n, most)));
}

// now - since as doubles, at least 0; like the difference, it wraps around.
inline F64 load_since(const std::int64_t* since, std::int64_t now) {
  const int64x2_t gone = vsubq_s64(vdupq_n_s64(now), vld1q_s64(since));
  return {vcvtq_f64_s64(vbicq_s64(gone, vshrq_n_s64(gone, 63)))};
}

// From and to floats in memory, one per lane.
inline F64 load_wide(const float* p) { return {vcvt_f64_f32(vld1_f32(p))}; }

inline void store_narrow(float* p, const F64& a) { vst1_f32(p, vcvt_f32_f64(a.lanes)); }
