// Codes32 on two q registers, CodeSums on one.
// Needs F32x16. Includes nothing, like the vector types of the other instruction sets.
#pragma once

struct Codes32 {
  int8x16_t a, b;
};

struct CodeSums {
  int32x4_t v;
};

inline Codes32 load_codes(const std::int8_t* p) { return {vld1q_s8(p), vld1q_s8(p + 16)}; }

inline CodeSums no_sums() { return {vdupq_n_s32(0)}; }

// Two products of codes in [-127, 127] stay below 2^15.
inline int16x8_t pair_products(int8x16_t x, int8x16_t y) {
  return vmlal_high_s8(vmull_s8(vget_low_s8(x), vget_low_s8(y)), x, y);
}

inline CodeSums add_products(const CodeSums& sums, const Codes32& x, const Codes32& y) {
  return {vpadalq_s16(vpadalq_s16(sums.v, pair_products(x.a, y.a)), pair_products(x.b, y.b))};
}

inline std::int32_t reduce_add(const CodeSums& sums) { return vaddvq_s32(sums.v); }

inline void store_sums(std::int32_t* p, const CodeSums& a, const CodeSums& b, const CodeSums& c,
                       const CodeSums& d) {
  vst1q_s32(p, vpaddq_s32(vpaddq_s32(a.v, b.v), vpaddq_s32(c.v, d.v)));
}

inline int16x8_t words(float32x4_t x, float32x4_t y) {
  return vcombine_s16(vmovn_s32(vcvtq_s32_f32(x)), vmovn_s32(vcvtq_s32_f32(y)));
}

// The lanes of integer-valued v, which are in [-127, 127].
inline void store_codes(std::int8_t* p, const F32x16& v) {
  vst1q_s8(p, vcombine_s8(vmovn_s16(words(v.a, v.b)), vmovn_s16(words(v.c, v.d))));
}

// Ask for the cache line some bytes further on; it need not exist.
inline void prefetch(const void* p, std::size_t bytes) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(p) + bytes));
}
