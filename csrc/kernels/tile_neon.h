// RowCodes (8 codes of a row) on two q registers, QueryCodes (8 codes of each of 16 queries) on
// eight, TileSums (16 dots) on four.
// Includes nothing, like the vector types of the other instruction sets.
#pragma once

// A lane adds up 4 products of a code of at most 127, in 16 bits: 128 * 127 < 2^15.
constexpr int kTileLimit = 128;

constexpr std::size_t kTileStep = 8;
constexpr std::size_t kTileCodes = 8;

struct QueryCodes {
  int8x16_t x[4], y[4];
};

inline QueryCodes load_queries(const std::int8_t* p) {
  return {{vld1q_s8(p), vld1q_s8(p + 16), vld1q_s8(p + 32), vld1q_s8(p + 48)},
          {vld1q_s8(p + 64), vld1q_s8(p + 80), vld1q_s8(p + 96), vld1q_s8(p + 112)}};
}

struct RowCodes {
  int8x16_t x, y;
};

struct TileSums {
  int32x4_t v[4];
};

inline int8x16_t repeat_four(const std::int8_t* p) {
  std::int32_t four;
  std::memcpy(&four, p, sizeof four);
  return vreinterpretq_s8_s32(vdupq_n_s32(four));
}

inline RowCodes repeat_codes(const std::int8_t* p) { return {repeat_four(p), repeat_four(p + 4)}; }

// Where sums of a row with the queries of a panel start.
inline TileSums no_tile_sums(const std::int8_t*, std::size_t) {
  return {{vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)}};
}

inline int32x4_t add_products(int32x4_t sums, const RowCodes& row, int8x16_t of_x, int8x16_t of_y) {
  const int16x8_t low = vmull_s8(vget_low_s8(row.x), vget_low_s8(of_x));
  const int16x8_t high = vmull_high_s8(row.x, of_x);
  const int16x8_t both_low = vmlal_s8(low, vget_low_s8(row.y), vget_low_s8(of_y));
  return vpadalq_s16(sums, vpaddq_s16(both_low, vmlal_high_s8(high, row.y, of_y)));
}

inline void add_tile(TileSums& sums, const RowCodes& row, const QueryCodes& queries) {
  for (int i = 0; i < 4; ++i) {
    sums.v[i] = add_products(sums.v[i], row, queries.x[i], queries.y[i]);
  }
}

// Query by query, the sums of four rows.
inline void store_tile(std::int32_t* p, std::size_t stride, const TileSums& a, const TileSums& b,
                       const TileSums& c, const TileSums& d) {
  for (int group = 0; group < 4; ++group) {
    // An interleaving store writes queries one after another; each then goes to its place.
    std::int32_t queries[16];
    vst4q_s32(queries, {{a.v[group], b.v[group], c.v[group], d.v[group]}});
    for (int q = 0; q < 4; ++q) vst1q_s32(p + q * stride, vld1q_s32(queries + 4 * q));
    p += 4 * stride;
  }
}
