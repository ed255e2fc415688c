// F32x16 on four q registers: lanes 0-3 are `a`, 12-15 are `d`.
// Includes nothing, like the vector types of the other instruction sets.
#pragma once

struct F32x16 {
  float32x4_t a, b, c, d;
};

inline F32x16 broadcast(float x) {
  const float32x4_t v = vdupq_n_f32(x);
  return {v, v, v, v};
}

inline F32x16 zero() { return broadcast(0.0f); }

inline F32x16 load(const float* p) {
  return {vld1q_f32(p), vld1q_f32(p + 4), vld1q_f32(p + 8), vld1q_f32(p + 12)};
}

inline void store(float* p, const F32x16& v) {
  vst1q_f32(p, v.a);
  vst1q_f32(p + 4, v.b);
  vst1q_f32(p + 8, v.c);
  vst1q_f32(p + 12, v.d);
}

inline F32x16 add(const F32x16& x, const F32x16& y) {
  return {vaddq_f32(x.a, y.a), vaddq_f32(x.b, y.b), vaddq_f32(x.c, y.c), vaddq_f32(x.d, y.d)};
}

inline F32x16 mul(const F32x16& x, const F32x16& y) {
  return {vmulq_f32(x.a, y.a), vmulq_f32(x.b, y.b), vmulq_f32(x.c, y.c), vmulq_f32(x.d, y.d)};
}

inline F32x16 sub(const F32x16& x, const F32x16& y) {
  return {vsubq_f32(x.a, y.a), vsubq_f32(x.b, y.b), vsubq_f32(x.c, y.c), vsubq_f32(x.d, y.d)};
}

// vminq and vmaxq would give NaN for NaN, and order -0 before +0.
inline float32x4_t lesser(float32x4_t x, float32x4_t y) { return vbslq_f32(vcltq_f32(x, y), x, y); }

inline float32x4_t greater(float32x4_t x, float32x4_t y) {
  return vbslq_f32(vcgtq_f32(x, y), x, y);
}

// Where the two cannot be ordered or are equal, min and max give y.
inline F32x16 min(const F32x16& x, const F32x16& y) {
  return {lesser(x.a, y.a), lesser(x.b, y.b), lesser(x.c, y.c), lesser(x.d, y.d)};
}

inline F32x16 max(const F32x16& x, const F32x16& y) {
  return {greater(x.a, y.a), greater(x.b, y.b), greater(x.c, y.c), greater(x.d, y.d)};
}

// Nearest integer, halves to even, for |x| < 2^22. Adding 1.5 * 2^23 leaves no bit for fractions
// (and, unlike the rounding instruction, gives the scalar kernel's sign of zero).
inline F32x16 round_even(const F32x16& x) {
  const F32x16 rounder = broadcast(0x1.8p23f);
  return sub(add(x, rounder), rounder);
}

inline float32x4_t raised(float32x4_t x, float32x4_t rounded) {
  const uint32x4_t octaves = vshlq_n_u32(vreinterpretq_u32_f32(rounded), 23);
  return vreinterpretq_f32_u32(vaddq_u32(vreinterpretq_u32_f32(x), octaves));
}

// x * 2^n for the integer n that is in the lowest bits of `rounded`, where x and the result are
// normal.
inline F32x16 scale_by_low_bits(const F32x16& x, const F32x16& rounded) {
  return {raised(x.a, rounded.a), raised(x.b, rounded.b), raised(x.c, rounded.c),
          raised(x.d, rounded.d)};
}

inline float32x4_t kept(uint32x4_t where, float32x4_t x) {
  return vreinterpretq_f32_u32(vandq_u32(where, vreinterpretq_u32_f32(x)));
}

// The upper 12 bits of the significand.
inline F32x16 upper_half(const F32x16& x) {
  const uint32x4_t upper = vdupq_n_u32(0xfffff000);
  return {kept(upper, x.a), kept(upper, x.b), kept(upper, x.c), kept(upper, x.d)};
}

inline float32x4_t either(float32x4_t x, float32x4_t y) {
  return vreinterpretq_f32_u32(vorrq_u32(vreinterpretq_u32_f32(x), vreinterpretq_u32_f32(y)));
}

// Every bit that one of the two has.
inline F32x16 bits_or(const F32x16& x, const F32x16& y) {
  return {either(x.a, y.a), either(x.b, y.b), either(x.c, y.c), either(x.d, y.d)};
}

// y where x >= limit, elsewhere (and where they cannot be ordered) +0.
inline F32x16 zero_unless_at_least(const F32x16& x, const F32x16& limit, const F32x16& y) {
  return {kept(vcgeq_f32(x.a, limit.a), y.a), kept(vcgeq_f32(x.b, limit.b), y.b),
          kept(vcgeq_f32(x.c, limit.c), y.c), kept(vcgeq_f32(x.d, limit.d), y.d)};
}

inline float reduce_add(const F32x16& x) {
  const float32x4_t four = vaddq_f32(vaddq_f32(x.a, x.c), vaddq_f32(x.b, x.d));
  const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
  return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}

inline F32x16 load_integers(const std::int32_t* p) {
  return {vcvtq_f32_s32(vld1q_s32(p)), vcvtq_f32_s32(vld1q_s32(p + 4)),
          vcvtq_f32_s32(vld1q_s32(p + 8)), vcvtq_f32_s32(vld1q_s32(p + 12))};
}

// One bit for each of four lanes that are not all ones.
inline std::uint32_t unset_bits(uint32x4_t less, unsigned shift) {
  const uint32x4_t places = {1u, 2u, 4u, 8u};
  return vaddvq_u32(vbicq_u32(places, less)) << shift;
}

// Bit l is set unless lane l of a is less than that of b; NaN is not less.
inline std::uint32_t not_less(const F32x16& a, const F32x16& b) {
  return unset_bits(vcltq_f32(a.a, b.a), 0) | unset_bits(vcltq_f32(a.b, b.b), 4) |
         unset_bits(vcltq_f32(a.c, b.c), 8) | unset_bits(vcltq_f32(a.d, b.d), 12);
}
