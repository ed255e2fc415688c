// QueryCodes (4 codes of each of 16 queries) and TileSums (16 dots) on two ymm registers each. Two
// rows at a time, for what they need stays in registers while sums of 16 bits go over 16 codes:
// widening takes one multiplication in five then.
// Needs what tile_x86.h has. Includes nothing, so that it can stand inside a target region.
#pragma once

// A lane adds up 8 products of a row's code, at most 255, in 16 bits: 128 * 255 < 2^15.
constexpr int kTileLimit = 128;

struct TileSums {
  __m256i lo, hi;
};

// Sums of two neighbouring products, in 16 bits.
struct PairSums {
  __m256i lo, hi;
};

struct QueryCodes {
  __m256i lo, hi;
};

inline QueryCodes load_queries(const std::int8_t* p) { return {load_bytes(p), load_bytes(p + 32)}; }

inline PairSums products(__m256i row, const QueryCodes& queries) {
  return {_mm256_maddubs_epi16(row, queries.lo), _mm256_maddubs_epi16(row, queries.hi)};
}

inline PairSums sum(const PairSums& x, const PairSums& y) {
  return {_mm256_add_epi16(x.lo, y.lo), _mm256_add_epi16(x.hi, y.hi)};
}

inline TileSums add_widened(const TileSums& sums, const PairSums& pairs) {
  const __m256i ones = _mm256_set1_epi16(1);
  return {_mm256_add_epi32(sums.lo, _mm256_madd_epi16(pairs.lo, ones)),
          _mm256_add_epi32(sums.hi, _mm256_madd_epi16(pairs.hi, ones))};
}

// Otherwise compilers load queries anew for each row, and move additions away from products until
// sums no longer fit into registers (1.7 times slower).
inline void keep_in_registers(QueryCodes& x) { asm volatile("" : "+x"(x.lo), "+x"(x.hi)); }
inline void keep_in_registers(PairSums& x) { asm volatile("" : "+x"(x.lo), "+x"(x.hi)); }

inline void add_two_rows(const std::int8_t* panel, const std::int8_t* of_a, const std::int8_t* of_b,
                         std::size_t code_dim, TileSums* sums) {
  TileSums a = sums[0];
  TileSums b = sums[1];
  for (std::size_t d = 0; d < code_dim; d += 16) {
    QueryCodes queries = load_queries(panel + d * 16);
    keep_in_registers(queries);
    PairSums pairs_a = products(repeated(of_a + d), queries);
    PairSums pairs_b = products(repeated(of_b + d), queries);
    for (std::size_t four = d + 4; four < d + 16; four += 4) {
      queries = load_queries(panel + four * 16);
      keep_in_registers(queries);
      keep_in_registers(pairs_a);
      keep_in_registers(pairs_b);
      pairs_a = sum(pairs_a, products(repeated(of_a + four), queries));
      pairs_b = sum(pairs_b, products(repeated(of_b + four), queries));
    }
    a = add_widened(a, pairs_a);
    b = add_widened(b, pairs_b);
  }
  sums[0] = a;
  sums[1] = b;
}

inline void add_rows(const std::int8_t* panel, const std::int8_t* const* rows, std::size_t code_dim,
                     TileSums* sums) {
  add_two_rows(panel, rows[0], rows[1], code_dim, sums);
  add_two_rows(panel, rows[2], rows[3], code_dim, sums + 2);
}

// Where sums of a row with the queries of a panel start: what adding 128 to the row's codes will
// add is taken off.
inline TileSums no_tile_sums(const std::int8_t* panel, std::size_t code_dim) {
  const __m256i zero = _mm256_setzero_si256();
  TileSums sums = {zero, zero};
  for (std::size_t d = 0; d < code_dim; d += 4) {
    sums = add_widened(sums, products(_mm256_set1_epi8(1), load_queries(panel + d * 16)));
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
