// FourCodes, QueryCodes and TileSums on one ymm register each.
// Includes nothing, so that it can stand inside a target region.
#pragma once

struct QueryCodes {
  __m256i v;
};

inline QueryCodes load_queries(const std::int8_t* p) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))};
}

struct FourCodes {
  __m256i v;
};

struct TileSums {
  __m256i v;
};

// 128 more than the codes, for maddubs takes unsigned bytes: no sign to move per query. With 32 as
// the most for a query's code, the four products of two steps stay within 4 * 255 * 32 < 2^15, so
// that two steps share one widening.
inline FourCodes repeat_four(const std::int8_t* p) {
  std::int32_t four;
  std::memcpy(&four, p, sizeof four);
  return {_mm256_xor_si256(_mm256_set1_epi32(four), _mm256_set1_epi8(-128))};
}

inline TileSums add_tile(const TileSums& sums, const FourCodes& x, const QueryCodes& of_x,
                         const FourCodes& y, const QueryCodes& of_y) {
  const __m256i pairs =
      _mm256_add_epi16(_mm256_maddubs_epi16(x.v, of_x.v), _mm256_maddubs_epi16(y.v, of_y.v));
  return {_mm256_add_epi32(sums.v, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))};
}

// Where sums of a row with the 8 queries that begin at `panel` (4 codes of each, then 32 codes of
// others, and so on) start: what adding 128 to the row's codes will add is taken off.
inline TileSums no_tile_sums(const std::int8_t* panel, std::size_t code_dim) {
  TileSums sums = {_mm256_setzero_si256()};
  const FourCodes ones = {_mm256_set1_epi8(1)};
  for (std::size_t d = 0; d < code_dim; d += 8) {
    sums =
        add_tile(sums, ones, load_queries(panel + d * 16), ones, load_queries(panel + d * 16 + 64));
  }
  return {_mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(sums.v, 7))};
}

// Query by query, the sums of four rows.
inline void store_tile(std::int32_t* p, std::size_t stride, const TileSums& a, const TileSums& b,
                       const TileSums& c, const TileSums& d) {
  const __m256i ab_low = _mm256_unpacklo_epi32(a.v, b.v);
  const __m256i ab_high = _mm256_unpackhi_epi32(a.v, b.v);
  const __m256i cd_low = _mm256_unpacklo_epi32(c.v, d.v);
  const __m256i cd_high = _mm256_unpackhi_epi32(c.v, d.v);
  const __m256i of_query[4] = {
      _mm256_unpacklo_epi64(ab_low, cd_low), _mm256_unpackhi_epi64(ab_low, cd_low),
      _mm256_unpacklo_epi64(ab_high, cd_high), _mm256_unpackhi_epi64(ab_high, cd_high)};
  for (int q = 0; q < 4; ++q) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + q * stride),
                     _mm256_castsi256_si128(of_query[q]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + (q + 4) * stride),
                     _mm256_extracti128_si256(of_query[q], 1));
  }
}
