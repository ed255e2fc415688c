// I16x32 on two ymm registers: lanes 0-15 are `lo`, 16-31 are `hi`.
#pragma once

struct I16x32 {
  __m256i lo, hi;
};

inline I16x32 i16_broadcast(std::int16_t x) { return {_mm256_set1_epi16(x), _mm256_set1_epi16(x)}; }

inline I16x32 load(const std::int16_t* p) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 16))};
}

inline void store(std::int16_t* p, const I16x32& v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v.lo);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 16), v.hi);
}

// Wraps around.
inline I16x32 add(const I16x32& a, const I16x32& b) {
  return {_mm256_add_epi16(a.lo, b.lo), _mm256_add_epi16(a.hi, b.hi)};
}

// All ones in the lanes whose bit is set.
inline __m256i lanes_of(std::uint32_t sixteen_bits) {
  const __m256i own = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096,
                                        8192, 16384, -32768);
  const __m256i all = _mm256_set1_epi16(static_cast<std::int16_t>(sixteen_bits));
  return _mm256_cmpeq_epi16(_mm256_and_si256(all, own), own);
}

// a where the lane's bit is set, elsewhere 0.
inline I16x32 where_bits(std::uint32_t bits, const I16x32& a) {
  return {_mm256_and_si256(lanes_of(bits & 0xFFFFu), a.lo),
          _mm256_and_si256(lanes_of(bits >> 16), a.hi)};
}

// The lanes in which a > b.
inline std::uint32_t bits_above(const I16x32& a, const I16x32& b) {
  // Packing works within 128-bit halves; the permutation puts the quarters back in order.
  const __m256i packed =
      _mm256_packs_epi16(_mm256_cmpgt_epi16(a.lo, b.lo), _mm256_cmpgt_epi16(a.hi, b.hi));
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_permute4x64_epi64(packed, 0xD8)));
}

// Eight lanes of the next function.
inline std::uint32_t eight_large_squares(__m128i a, const std::uint16_t* values, __m256 least) {
  const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values));
  const __m256 x = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(a));
  const __m256 needed = _mm256_mul_ps(least, _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(value)));
  const __m256 large = _mm256_cmp_ps(_mm256_mul_ps(x, x), needed, _CMP_GE_OQ);
  return static_cast<std::uint32_t>(_mm256_movemask_ps(large));
}

// The lanes with a * a >= least * value, all in float.
inline std::uint32_t bits_of_large_squares(const I16x32& a, const std::uint16_t* values,
                                           float least) {
  const __m256 all = _mm256_set1_ps(least);
  return eight_large_squares(_mm256_castsi256_si128(a.lo), values, all) |
         eight_large_squares(_mm256_extracti128_si256(a.lo, 1), values + 8, all) << 8 |
         eight_large_squares(_mm256_castsi256_si128(a.hi), values + 16, all) << 16 |
         eight_large_squares(_mm256_extracti128_si256(a.hi, 1), values + 24, all) << 24;
}

// The lowest bit that is set; bits is not 0.
inline unsigned lowest_bit(std::uint32_t bits) {
  return static_cast<unsigned>(__builtin_ctz(bits));
}
