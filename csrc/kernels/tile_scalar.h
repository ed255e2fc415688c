// RowCodes (4 codes of a row), QueryCodes (4 codes of each of 16 queries) and TileSums (16 dots) in
// plain C++. Includes nothing, so that it can stand inside a target region.
#pragma once

constexpr std::size_t kTileStep = 4;
constexpr std::size_t kTileCodes = 8;

struct QueryCodes {
  const std::int8_t* at;
};

inline QueryCodes load_queries(const std::int8_t* p) { return {p}; }

struct RowCodes {
  const std::int8_t* at;
};

struct TileSums {
  std::int32_t lane[16];
};

inline RowCodes repeat_codes(const std::int8_t* p) { return {p}; }

// Where sums of a row with the queries of a panel start.
inline TileSums no_tile_sums(const std::int8_t*, std::size_t) { return TileSums{}; }

// The queries' codes are in [-32, 32].
inline void add_tile(TileSums& sums, const RowCodes& row, const QueryCodes& queries) {
  for (int l = 0; l < 64; ++l) {
    sums.lane[l / 4] += static_cast<std::int32_t>(row.at[l % 4]) * queries.at[l];
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
