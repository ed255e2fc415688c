// I16x32 on four q registers: lanes 0-7 are `a`, 24-31 are `d`.
#pragma once

struct I16x32 {
  int16x8_t a, b, c, d;
};

inline I16x32 i16_broadcast(std::int16_t x) {
  const int16x8_t v = vdupq_n_s16(x);
  return {v, v, v, v};
}

inline I16x32 load(const std::int16_t* p) {
  return {vld1q_s16(p), vld1q_s16(p + 8), vld1q_s16(p + 16), vld1q_s16(p + 24)};
}

inline void store(std::int16_t* p, const I16x32& v) {
  vst1q_s16(p, v.a);
  vst1q_s16(p + 8, v.b);
  vst1q_s16(p + 16, v.c);
  vst1q_s16(p + 24, v.d);
}

// Wraps around.
inline I16x32 add(const I16x32& x, const I16x32& y) {
  return {vaddq_s16(x.a, y.a), vaddq_s16(x.b, y.b), vaddq_s16(x.c, y.c), vaddq_s16(x.d, y.d)};
}

// Lane l holds bit l.
inline uint16x8_t lane_bits() {
  const std::uint16_t bits[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  return vld1q_u16(bits);
}

// x in the lanes whose bit among the lowest eight is set, elsewhere 0.
inline int16x8_t where_eight(std::uint32_t bits, int16x8_t x) {
  const uint16x8_t set = vtstq_u16(vdupq_n_u16(static_cast<std::uint16_t>(bits)), lane_bits());
  return vandq_s16(vreinterpretq_s16_u16(set), x);
}

// x where the lane's bit is set, elsewhere 0.
inline I16x32 where_bits(std::uint32_t bits, const I16x32& x) {
  return {where_eight(bits, x.a), where_eight(bits >> 8, x.b), where_eight(bits >> 16, x.c),
          where_eight(bits >> 24, x.d)};
}

inline std::uint32_t eight_above(int16x8_t x, int16x8_t y) {
  return vaddvq_u16(vandq_u16(vcgtq_s16(x, y), lane_bits()));
}

// The lanes in which x > y.
inline std::uint32_t bits_above(const I16x32& x, const I16x32& y) {
  return eight_above(x.a, y.a) | eight_above(x.b, y.b) << 8 | eight_above(x.c, y.c) << 16 |
         eight_above(x.d, y.d) << 24;
}

// Four lanes of the next function.
inline std::uint32_t four_large_squares(int16x4_t x, const std::uint16_t* values, float least) {
  const std::uint32_t bits[4] = {1, 2, 4, 8};
  const float32x4_t lanes = vcvtq_f32_s32(vmovl_s16(x));
  const float32x4_t value = vcvtq_f32_u32(vmovl_u16(vld1_u16(values)));
  const uint32x4_t large = vcgeq_f32(vmulq_f32(lanes, lanes), vmulq_n_f32(value, least));
  return vaddvq_u32(vandq_u32(large, vld1q_u32(bits)));
}

inline std::uint32_t eight_large_squares(int16x8_t x, const std::uint16_t* values, float least) {
  return four_large_squares(vget_low_s16(x), values, least) |
         four_large_squares(vget_high_s16(x), values + 4, least) << 4;
}

// The lanes with x * x >= least * value, all in float.
inline std::uint32_t bits_of_large_squares(const I16x32& x, const std::uint16_t* values,
                                           float least) {
  return eight_large_squares(x.a, values, least) |
         eight_large_squares(x.b, values + 8, least) << 8 |
         eight_large_squares(x.c, values + 16, least) << 16 |
         eight_large_squares(x.d, values + 24, least) << 24;
}

// The lowest bit that is set; bits is not 0.
inline unsigned lowest_bit(std::uint32_t bits) {
  return static_cast<unsigned>(__builtin_ctz(bits));
}
