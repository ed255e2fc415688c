// Codes32 as 16-bit words and CodeSums on one zmm register each.
// Needs F32x16. Includes nothing, so that it can stand inside a target region.
#pragma once

struct Codes32 {
  __m512i words;
};

struct CodeSums {
  __m512i v;
};

inline Codes32 load_codes(const std::int8_t* p) {
  return {_mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}

inline CodeSums no_sums() { return {_mm512_setzero_si512()}; }

inline CodeSums add_products(const CodeSums& sums, const Codes32& a, const Codes32& b) {
  return {_mm512_add_epi32(sums.v, _mm512_madd_epi16(a.words, b.words))};
}

inline __m256i halves_added(const CodeSums& sums) {
  return _mm256_add_epi32(_mm512_castsi512_si256(sums.v), _mm512_extracti32x8_epi32(sums.v, 1));
}

inline std::int32_t reduce_add(const CodeSums& sums) {
  const __m256i eight = halves_added(sums);
  const __m128i four =
      _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

inline void store_sums(std::int32_t* p, const CodeSums& a, const CodeSums& b, const CodeSums& c,
                       const CodeSums& d) {
  const __m256i pairs = _mm256_hadd_epi32(_mm256_hadd_epi32(halves_added(a), halves_added(b)),
                                          _mm256_hadd_epi32(halves_added(c), halves_added(d)));
  const __m128i sums =
      _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), sums);
}

// The lanes of integer-valued v, which are in [-127, 127].
inline void store_codes(std::int8_t* p, const F32x16& v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v.all)));
}

// Ask for the cache line some bytes further on; it need not exist.
inline void prefetch(const void* p, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(p) + bytes;
  _mm_prefetch(reinterpret_cast<const char*>(address), _MM_HINT_T0);
}
