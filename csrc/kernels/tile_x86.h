// What the tiles of every x86 instruction set share, on ymm registers.
// Includes nothing, so that it can stand inside a target region.
#pragma once

inline __m256i load_bytes(const std::int8_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

inline std::int32_t four_codes(const std::int8_t* p) {
  std::int32_t four;
  std::memcpy(&four, p, sizeof four);
  return four;
}

// Four codes of a row over and over, as unsigned bytes, 128 more: x86 multiplies unsigned by signed
// ones, and no sign is then to be moved per query.
inline __m256i repeated(const std::int8_t* p) {
  return _mm256_xor_si256(_mm256_set1_epi32(four_codes(p)), _mm256_set1_epi8(-128));
}

// Query by query, the sums of four rows with 8 queries.
inline void store_eight(std::int32_t* p, std::size_t stride, __m256i a, __m256i b, __m256i c,
                        __m256i d) {
  const __m256i ab_low = _mm256_unpacklo_epi32(a, b);
  const __m256i ab_high = _mm256_unpackhi_epi32(a, b);
  const __m256i cd_low = _mm256_unpacklo_epi32(c, d);
  const __m256i cd_high = _mm256_unpackhi_epi32(c, d);
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
