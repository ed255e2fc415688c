// RowCodes (8 codes of a row), QueryCodes (8 codes of each of 16 queries) and TileSums (16 dots) on
// two zmm registers each; one instruction adds four products. Even and odd steps have sums of their
// own, for an instruction takes longer than the four of one step.
// Needs what tile_x86.h has. Includes nothing, so that it can stand inside a target region.
#pragma once

// Sums have 32 bits: any codes of queries will do.
constexpr int kTileLimit = 8 * 127;

constexpr std::size_t kTileStep = 8;
constexpr std::size_t kTileCodes = 16;

struct QueryCodes {
  __m512i even, odd;
};

inline QueryCodes load_queries(const std::int8_t* p) {
  return {_mm512_loadu_si512(p), _mm512_loadu_si512(p + 64)};
}

struct RowCodes {
  __m512i even, odd;
};

inline __m512i wide_repeated(const std::int8_t* p) {
  return _mm512_xor_si512(_mm512_set1_epi32(four_codes(p)), _mm512_set1_epi8(-128));
}

inline RowCodes repeat_codes(const std::int8_t* p) {
  return {wide_repeated(p), wide_repeated(p + 4)};
}

struct TileSums {
  __m512i even, odd;
};

inline void add_tile(TileSums& sums, const RowCodes& row, const QueryCodes& queries) {
  sums.even = _mm512_dpbusd_epi32(sums.even, row.even, queries.even);
  sums.odd = _mm512_dpbusd_epi32(sums.odd, row.odd, queries.odd);
}

// Where sums of a row with the queries of a panel start: what adding 128 to the row's codes will
// add is taken off.
inline TileSums no_tile_sums(const std::int8_t* panel, std::size_t code_dim) {
  const RowCodes added = {_mm512_set1_epi8(-128), _mm512_set1_epi8(-128)};
  const __m512i zero = _mm512_setzero_si512();
  TileSums sums = {zero, zero};
  for (std::size_t d = 0; d < code_dim; d += kTileStep) {
    add_tile(sums, added, load_queries(panel + d * 16));
  }
  return {_mm512_sub_epi32(zero, sums.even), _mm512_sub_epi32(zero, sums.odd)};
}

// Query by query, the sums of four rows.
inline void store_tile(std::int32_t* p, std::size_t stride, const TileSums& a, const TileSums& b,
                       const TileSums& c, const TileSums& d) {
  const TileSums* const rows[4] = {&a, &b, &c, &d};
  __m256i lo[4];
  __m256i hi[4];
  for (int r = 0; r < 4; ++r) {
    const __m512i sum = _mm512_add_epi32(rows[r]->even, rows[r]->odd);
    lo[r] = _mm512_castsi512_si256(sum);
    hi[r] = _mm512_extracti32x8_epi32(sum, 1);
  }
  store_eight(p, stride, lo[0], lo[1], lo[2], lo[3]);
  store_eight(p + 8 * stride, stride, hi[0], hi[1], hi[2], hi[3]);
}
