// Codes32 and CodeSums on one ymm register each.
// Needs F32x16. Includes nothing, so that it can stand inside a target region.
#pragma once

struct Codes32 {
  __m256i v;
};

struct CodeSums {
  __m256i v;
};

inline Codes32 load_codes(const std::int8_t* p) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))};
}

inline CodeSums no_sums() { return {_mm256_setzero_si256()}; }

// maddubs multiplies unsigned by signed bytes: the sign of a goes over to b. Two products of codes
// in [-127, 127] stay below 2^15, where its sums would saturate.
inline CodeSums add_products(const CodeSums& sums, const Codes32& a, const Codes32& b) {
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(a.v), _mm256_sign_epi8(b.v, a.v));
  return {_mm256_add_epi32(sums.v, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))};
}

inline std::int32_t reduce_add(const CodeSums& sums) {
  const __m128i four =
      _mm_add_epi32(_mm256_castsi256_si128(sums.v), _mm256_extracti128_si256(sums.v, 1));
  const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

inline void store_sums(std::int32_t* p, const CodeSums& a, const CodeSums& b, const CodeSums& c,
                       const CodeSums& d) {
  const __m256i pairs = _mm256_hadd_epi32(_mm256_hadd_epi32(a.v, b.v), _mm256_hadd_epi32(c.v, d.v));
  const __m128i sums =
      _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), sums);
}

// The lanes of integer-valued v, which are in [-127, 127].
inline void store_codes(std::int8_t* p, const F32x16& v) {
  const __m256i words = _mm256_packs_epi32(_mm256_cvtps_epi32(v.lo), _mm256_cvtps_epi32(v.hi));
  const __m256i ordered = _mm256_permute4x64_epi64(words, 0xd8);
  const __m128i bytes =
      _mm_packs_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
}

// Ask for the cache line some bytes further on; it need not exist.
inline void prefetch(const void* p, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(p) + bytes;
  _mm_prefetch(reinterpret_cast<const char*>(address), _MM_HINT_T0);
}
