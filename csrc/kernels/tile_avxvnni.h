// RowCodes (4 codes of a row) on one ymm register, QueryCodes (4 codes of each of 16 queries) and
// TileSums (16 dots) on two each; one instruction adds four products. One step at a time: what two
// need together would not stay in registers.
// Needs what tile_x86.h has. Includes nothing, so that it can stand inside a target region.
#pragma once

// Sums have 32 bits: any codes of queries will do.
constexpr int kTileLimit = 8 * 127;

constexpr std::size_t kTileStep = 4;
constexpr std::size_t kTileCodes = 16;

struct QueryCodes {
  __m256i lo, hi;
};

inline QueryCodes load_queries(const std::int8_t* p) { return {load_bytes(p), load_bytes(p + 32)}; }

struct RowCodes {
  __m256i v;
};

inline RowCodes repeat_codes(const std::int8_t* p) { return {repeated(p)}; }

struct TileSums {
  __m256i lo, hi;
};

inline void add_tile(TileSums& sums, const RowCodes& row, const QueryCodes& queries) {
  sums.lo = _mm256_dpbusd_avx_epi32(sums.lo, row.v, queries.lo);
  sums.hi = _mm256_dpbusd_avx_epi32(sums.hi, row.v, queries.hi);
}

// Where sums of a row with the queries of a panel start: what adding 128 to the row's codes will
// add is taken off.
inline TileSums no_tile_sums(const std::int8_t* panel, std::size_t code_dim) {
  const RowCodes added = {_mm256_set1_epi8(-128)};
  const __m256i zero = _mm256_setzero_si256();
  TileSums sums = {zero, zero};
  for (std::size_t d = 0; d < code_dim; d += kTileStep) {
    add_tile(sums, added, load_queries(panel + d * 16));
  }
  return {_mm256_sub_epi32(zero, sums.lo), _mm256_sub_epi32(zero, sums.hi)};
}

// Query by query, the sums of four rows.
inline void store_tile(std::int32_t* p, std::size_t stride, const TileSums& a, const TileSums& b,
                       const TileSums& c, const TileSums& d) {
  store_eight(p, stride, a.lo, b.lo, c.lo, d.lo);
  store_eight(p + 8 * stride, stride, a.hi, b.hi, c.hi, d.hi);
}
