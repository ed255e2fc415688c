// RowCodes (32 codes of a row), QueryCodes (32 codes of each of 16 queries) and TileSums (16 dots)
// in plain C++, which compilers turn into what vectors every processor of its kind has: 16 products
// at a time, summed in 16 bits as far as those hold them (7 times fewer instructions than product
// by product). Includes nothing, so that it can stand inside a target region.
#pragma once

// A lane adds up 8 products of a code of at most 127, in 16 bits: 2 * 128 * 127 < 2^15.
constexpr int kTileLimit = 128;

constexpr std::size_t kTileStep = 32;
constexpr std::size_t kTileCodes = 32;

struct QueryCodes {
  const std::int8_t* at;
};

inline QueryCodes load_queries(const std::int8_t* p) { return {p}; }

// Four codes over and over, then the next four.
struct RowCodes {
  std::int8_t of_four[8][16];
};

struct TileSums {
  std::int32_t lane[16];
};

inline RowCodes repeat_codes(const std::int8_t* p) {
  RowCodes row;
  for (int four = 0; four < 8; ++four) {
    for (int copy = 0; copy < 4; ++copy) {
      std::memcpy(row.of_four[four] + 4 * copy, p + 4 * four, 4);
    }
  }
  return row;
}

// Where sums of a row with the queries of a panel start.
inline TileSums no_tile_sums(const std::int8_t*, std::size_t) { return TileSums{}; }

inline void add_tile(TileSums& sums, const RowCodes& row, const QueryCodes& queries) {
  for (int first = 0; first < 16; first += 4) {
    std::int16_t lane[16] = {};
    for (int four = 0; four < 8; ++four) {
      const std::int8_t* const of_queries = queries.at + 64 * four + 4 * first;
      for (int l = 0; l < 16; ++l) {
        lane[l] = static_cast<std::int16_t>(lane[l] + row.of_four[four][l] * of_queries[l]);
      }
    }
    for (int l = 0; l < 16; ++l) sums.lane[first + l / 4] += lane[l];
  }
}

// Query by query, the sums of four rows.
inline void store_tile(std::int32_t* p, std::size_t stride, const TileSums& a, const TileSums& b,
                       const TileSums& c, const TileSums& d) {
  for (int q = 0; q < 16; ++q) {
    p[q * stride] = a.lane[q];
    p[q * stride + 1] = b.lane[q];
    p[q * stride + 2] = c.lane[q];
    p[q * stride + 3] = d.lane[q];
  }
}
