// U32s on one zmm register: sixteen 32-bit integers.
// Includes nothing, so that it can stand inside a target region.
#pragma once

struct U32s {
  __m512i lanes;
};

constexpr std::size_t kU32Lanes = 16;

inline U32s broadcast_u32(std::uint32_t x) { return {_mm512_set1_epi32(static_cast<int>(x))}; }

inline U32s add(const U32s& a, const U32s& b) { return {_mm512_add_epi32(a.lanes, b.lanes)}; }

inline U32s bits_and(const U32s& a, const U32s& b) { return {_mm512_and_si512(a.lanes, b.lanes)}; }

inline U32s bits_xor(const U32s& a, const U32s& b) { return {_mm512_xor_si512(a.lanes, b.lanes)}; }

// ~a & b.
inline U32s bits_and_not(const U32s& a, const U32s& b) {
  return {_mm512_andnot_si512(a.lanes, b.lanes)};
}

// a | ~b.
inline U32s bits_or_not(const U32s& a, const U32s& b) {
  return {_mm512_ternarylogic_epi32(a.lanes, b.lanes, b.lanes, 0xf3)};
}

// Each lane turned left by Bits of 1..31.
template <int Bits>
inline U32s rotated_left(const U32s& a) {
  return {_mm512_rol_epi32(a.lanes, Bits)};
}

// A short word, the mark, zeros; a word that is not short counts as empty. A masked load reads no
// byte beyond the word.
inline __m128i marked(const Span<const char>& word) {
  const std::size_t size = word.size <= kShortWord ? word.size : 0;
  const auto mark = static_cast<__mmask16>(1u << size);
  const auto bytes = static_cast<__mmask16>(mark - 1u);
  return _mm_or_si128(_mm_maskz_loadu_epi8(bytes, word.data),
                      _mm_maskz_set1_epi8(mark, static_cast<char>(0x80)));
}

// Words at, at + 4, at + 8 and at + 12.
inline __m512i four_marked(const Span<const char>* at) {
  const __m256i low =
      _mm256_inserti128_si256(_mm256_castsi128_si256(marked(at[0])), marked(at[4]), 1);
  const __m256i high =
      _mm256_inserti128_si256(_mm256_castsi128_si256(marked(at[8])), marked(at[12]), 1);
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

// Rows of four become columns, in each quarter.
inline void transpose(__m512i (&x)[4]) {
  const __m512i low_01 = _mm512_unpacklo_epi32(x[0], x[1]);
  const __m512i low_23 = _mm512_unpacklo_epi32(x[2], x[3]);
  const __m512i high_01 = _mm512_unpackhi_epi32(x[0], x[1]);
  const __m512i high_23 = _mm512_unpackhi_epi32(x[2], x[3]);
  x[0] = _mm512_unpacklo_epi64(low_01, low_23);
  x[1] = _mm512_unpackhi_epi64(low_01, low_23);
  x[2] = _mm512_unpacklo_epi64(high_01, high_23);
  x[3] = _mm512_unpackhi_epi64(high_01, high_23);
}

// The first four message words of kU32Lanes short words, one word per lane, each followed by the
// mark 0x80; and their lengths in bits. A word that is not short counts as empty.
inline void load_short(const Span<const char>* words, U32s (&message)[4], U32s& bit_count) {
  __m512i x[4];
  for (int i = 0; i < 4; ++i) x[i] = four_marked(words + i);
  transpose(x);
  for (int i = 0; i < 4; ++i) message[i] = {x[i]};
  alignas(64) std::uint32_t bits[kU32Lanes];
  for (std::size_t i = 0; i < kU32Lanes; ++i) {
    bits[i] = words[i].size <= kShortWord ? static_cast<std::uint32_t>(8 * words[i].size) : 0;
  }
  bit_count = {_mm512_load_si512(bits)};
}

// The digests of kU32Lanes final states.
inline void store_digests(Md5* out, const U32s& a, const U32s& b, const U32s& c, const U32s& d) {
  // In memory the low half of a little-endian integer stands first.
  __m512i x[4] = {b.lanes, a.lanes, d.lanes, c.lanes};
  transpose(x);
  const __m512i swapped =
      _mm512_broadcast_i32x4(_mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
  for (int i = 0; i < 4; ++i) {
    const __m512i digests = _mm512_shuffle_epi8(x[i], swapped);
    auto* const at = reinterpret_cast<__m128i*>(out + i);
    _mm_storeu_si128(at, _mm512_castsi512_si128(digests));
    _mm_storeu_si128(at + 4, _mm512_extracti32x4_epi32(digests, 1));
    _mm_storeu_si128(at + 8, _mm512_extracti32x4_epi32(digests, 2));
    _mm_storeu_si128(at + 12, _mm512_extracti32x4_epi32(digests, 3));
  }
}
