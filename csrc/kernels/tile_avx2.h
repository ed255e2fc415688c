// RowCodes (8 codes of a row) on two ymm registers, QueryCodes (8 codes of each of 16 queries) on
// four, TileSums (16 dots) on two.
// Needs what tile_x86.h has. Includes nothing, so that it can stand inside a target region.
#pragma once

constexpr std::size_t kTileStep = 8;
constexpr std::size_t kTileCodes = 8;

struct QueryCodes {
  __m256i lo[2], hi[2];
};

inline QueryCodes load_queries(const std::int8_t* p) {
  return {{load_bytes(p), load_bytes(p + 64)}, {load_bytes(p + 32), load_bytes(p + 96)}};
}

struct RowCodes {
  __m256i v[2];
};

inline RowCodes repeat_codes(const std::int8_t* p) { return {{repeated(p), repeated(p + 4)}}; }

struct TileSums {
  __m256i lo, hi;
};

// With 32 as the most for a query's code, sums of four products stay within 4 * 255 * 32 < 2^15.
inline __m256i add_products(__m256i sums, const RowCodes& row, const __m256i (&queries)[2]) {
  const __m256i pairs = _mm256_add_epi16(_mm256_maddubs_epi16(row.v[0], queries[0]),
                                         _mm256_maddubs_epi16(row.v[1], queries[1]));
  return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

inline void add_tile(TileSums& sums, const RowCodes& row, const QueryCodes& queries) {
  sums.lo = add_products(sums.lo, row, queries.lo);
  sums.hi = add_products(sums.hi, row, queries.hi);
}

// Where sums of a row with the queries of a panel start: what adding 128 to the row's codes will
// add is taken off.
inline TileSums no_tile_sums(const std::int8_t* panel, std::size_t code_dim) {
  const RowCodes ones = {{_mm256_set1_epi8(1), _mm256_set1_epi8(1)}};
  const __m256i zero = _mm256_setzero_si256();
  TileSums sums = {zero, zero};
  for (std::size_t d = 0; d < code_dim; d += kTileStep) {
    add_tile(sums, ones, load_queries(panel + d * 16));
  }
  return {_mm256_sub_epi32(zero, _mm256_slli_epi32(sums.lo, 7)),
          _mm256_sub_epi32(zero, _mm256_slli_epi32(sums.hi, 7))};
}

// Query by query, the sums of four rows.
inline void store_tile(std::int32_t* p, std::size_t stride, const TileSums& a, const TileSums& b,
                       const TileSums& c, const TileSums& d) {
  store_eight(p, stride, a.lo, b.lo, c.lo, d.lo);
  store_eight(p + 8 * stride, stride, a.hi, b.hi, c.hi, d.hi);
}
