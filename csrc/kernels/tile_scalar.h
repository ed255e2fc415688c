// FourCodes (4 codes of a row), QueryCodes (4 codes of each of 8 queries) and TileSums (8 dots) in
// plain C++. Includes nothing, so that it can stand inside a target region.
#pragma once

struct QueryCodes {
  const std::int8_t* at;
};

inline QueryCodes load_queries(const std::int8_t* p) { return {p}; }

struct FourCodes {
  const std::int8_t* at;
};

struct TileSums {
  std::int32_t lane[8];
};

inline FourCodes repeat_four(const std::int8_t* p) { return {p}; }

// Where sums of a row with the 8 queries that begin at `panel` (4 codes of each, then 32 codes of
// others, and so on) start.
inline TileSums no_tile_sums(const std::int8_t*, std::size_t) { return TileSums{}; }

// The queries' codes are in [-32, 32].
inline TileSums add_tile(const TileSums& sums, const FourCodes& x, const QueryCodes& of_x,
                         const FourCodes& y, const QueryCodes& of_y) {
  TileSums next = sums;
  for (int l = 0; l < 32; ++l) {
    next.lane[l / 4] += static_cast<std::int32_t>(x.at[l % 4]) * of_x.at[l] +
                        static_cast<std::int32_t>(y.at[l % 4]) * of_y.at[l];
  }
  return next;
}

// Query by query, the sums of four rows.
inline void store_tile(std::int32_t* p, std::size_t stride, const TileSums& a, const TileSums& b,
                       const TileSums& c, const TileSums& d) {
  for (int q = 0; q < 8; ++q) {
    p[q * stride] = a.lane[q];
    p[q * stride + 1] = b.lane[q];
    p[q * stride + 2] = c.lane[q];
    p[q * stride + 3] = d.lane[q];
  }
}
