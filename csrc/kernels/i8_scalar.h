// Codes32 (32 codes of 8 bits) and CodeSums (partial sums of their products) in plain C++.
// Needs F32x16. Includes nothing, so that it can stand inside a target region.
#pragma once

struct Codes32 {
  const std::int8_t* at;
};

struct CodeSums {
  std::int32_t sum;
};

inline Codes32 load_codes(const std::int8_t* p) { return {p}; }

inline CodeSums no_sums() { return {0}; }

// Codes are in [-127, 127]: no product of two is beyond 2^14.
inline CodeSums add_products(const CodeSums& sums, const Codes32& a, const Codes32& b) {
  std::int32_t sum = sums.sum;
  for (int l = 0; l < 32; ++l) sum += static_cast<std::int32_t>(a.at[l]) * b.at[l];
  return {sum};
}

inline std::int32_t reduce_add(const CodeSums& sums) { return sums.sum; }

inline void store_sums(std::int32_t* p, const CodeSums& a, const CodeSums& b, const CodeSums& c,
                       const CodeSums& d) {
  p[0] = a.sum;
  p[1] = b.sum;
  p[2] = c.sum;
  p[3] = d.sum;
}

// The lanes of integer-valued v, which are in [-127, 127].
inline void store_codes(std::int8_t* p, const F32x16& v) {
  for (int l = 0; l < 16; ++l) p[l] = static_cast<std::int8_t>(v.lane[l]);
}

// Ask for the cache line some bytes further on; it need not exist.
inline void prefetch(const void*, std::size_t) {}
