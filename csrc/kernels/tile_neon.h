// FourCodes on one q register, QueryCodes and TileSums on two each.
// Includes nothing, like the vector types of the other instruction sets.
#pragma once

struct QueryCodes {
  int8x16_t a, b;
};

inline QueryCodes load_queries(const std::int8_t* p) { return {vld1q_s8(p), vld1q_s8(p + 16)}; }

struct FourCodes {
  int8x16_t v;
};

struct TileSums {
  int32x4_t a, b;
};

inline FourCodes repeat_four(const std::int8_t* p) {
  std::int32_t four;
  std::memcpy(&four, p, sizeof four);
  return {vreinterpretq_s8_s32(vdupq_n_s32(four))};
}

// Where sums of a row with the 8 queries that begin at `panel` (4 codes of each, then 32 codes of
// others, and so on) start.
inline TileSums no_tile_sums(const std::int8_t*, std::size_t) {
  return {vdupq_n_s32(0), vdupq_n_s32(0)};
}

// The queries' codes are in [-32, 32]: sums of four products stay below 2^15.
inline int32x4_t add_four(int32x4_t sums, int8x16_t x, int8x16_t of_x, int8x16_t y,
                          int8x16_t of_y) {
  const int16x8_t low = vmull_s8(vget_low_s8(x), vget_low_s8(of_x));
  const int16x8_t high = vmull_high_s8(x, of_x);
  const int16x8_t both_low = vmlal_s8(low, vget_low_s8(y), vget_low_s8(of_y));
  return vpadalq_s16(sums, vpaddq_s16(both_low, vmlal_high_s8(high, y, of_y)));
}

inline TileSums add_tile(const TileSums& sums, const FourCodes& x, const QueryCodes& of_x,
                         const FourCodes& y, const QueryCodes& of_y) {
  return {add_four(sums.a, x.v, of_x.a, y.v, of_y.a), add_four(sums.b, x.v, of_x.b, y.v, of_y.b)};
}

// Query by query, the sums of four rows.
inline void store_tile(std::int32_t* p, std::size_t stride, const TileSums& a, const TileSums& b,
                       const TileSums& c, const TileSums& d) {
  const int32x4_t rows[2][4] = {{a.a, b.a, c.a, d.a}, {a.b, b.b, c.b, d.b}};
  for (const auto& x : rows) {
    // An interleaving store writes queries one after another; each then goes to its place.
    std::int32_t queries[16];
    vst4q_s32(queries, {{x[0], x[1], x[2], x[3]}});
    for (int q = 0; q < 4; ++q) vst1q_s32(p + q * stride, vld1q_s32(queries + 4 * q));
    p += 4 * stride;
  }
}
