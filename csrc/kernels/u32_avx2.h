// U32s on one ymm register: eight 32-bit integers.
// Includes nothing, so that it can stand inside a target region.
#pragma once

struct U32s {
  __m256i lanes;
};

constexpr std::size_t kU32Lanes = 8;

inline U32s broadcast_u32(std::uint32_t x) { return {_mm256_set1_epi32(static_cast<int>(x))}; }

inline U32s add(const U32s& a, const U32s& b) { return {_mm256_add_epi32(a.lanes, b.lanes)}; }

inline U32s bits_and(const U32s& a, const U32s& b) { return {_mm256_and_si256(a.lanes, b.lanes)}; }

inline U32s bits_xor(const U32s& a, const U32s& b) { return {_mm256_xor_si256(a.lanes, b.lanes)}; }

// ~a & b.
inline U32s bits_and_not(const U32s& a, const U32s& b) {
  return {_mm256_andnot_si256(a.lanes, b.lanes)};
}

// a | ~b.
inline U32s bits_or_not(const U32s& a, const U32s& b) {
  const __m256i not_b = _mm256_xor_si256(b.lanes, _mm256_set1_epi32(-1));
  return {_mm256_or_si256(a.lanes, not_b)};
}

// Each lane turned left by Bits of 1..31; by half its length in one shuffle.
template <int Bits>
inline U32s rotated_left(const U32s& a) {
  if constexpr (Bits == 16) {
    const __m256i halves = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
    return {_mm256_shuffle_epi8(a.lanes, halves)};
  } else {
    return {
        _mm256_or_si256(_mm256_slli_epi32(a.lanes, Bits), _mm256_srli_epi32(a.lanes, 32 - Bits))};
  }
}

// Zeros after 16 ones, and the mark 0x80 amid zeros: loaded from 16 - size they keep the first
// `size` bytes and put the mark after them.
alignas(32) constexpr unsigned char kKeep[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                 255, 255, 255, 255, 255, 255, 255, 255};
alignas(32) constexpr unsigned char kMark[32] = {0, 0, 0, 0, 0, 0, 0, 0,   0,
                                                 0, 0, 0, 0, 0, 0, 0, 0x80};

// Not looked at by sanitizers, whether it is inlined or not: see `marked`.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] inline __m128i load_16(const void* bytes) {
  return _mm_loadu_si128(static_cast<const __m128i*>(bytes));
}

// The same for a word that 16 bytes must not be read of, or that is not short.
[[gnu::noinline, gnu::cold]] __m128i marked_bytewise(const Span<const char>& word) {
  alignas(16) unsigned char bytes[16] = {};
  const std::size_t size = word.size <= kShortWord ? word.size : 0;
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(word.data[i]);
  bytes[size] = 0x80;
  return load_16(bytes);
}

// A short word, the mark, zeros. Reads 16 bytes from where the word begins if they lie in one page
// of memory: what follows the word there can be read, though it is not ours (which is why
// sanitizers must not look).
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] inline __m128i marked(
    const Span<const char>& word) {
  constexpr std::uintptr_t kPage = 4096;
  const bool in_page = (reinterpret_cast<std::uintptr_t>(word.data) & (kPage - 1)) <= kPage - 16;
  if (word.size - 1 >= kShortWord || !in_page) return marked_bytewise(word);
  return _mm_or_si128(_mm_and_si128(load_16(word.data), load_16(kKeep + 16 - word.size)),
                      load_16(kMark + 16 - word.size));
}

inline __m256i paired(__m128i low, __m128i high) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

// Rows of four become columns, in each half.
inline void transpose(__m256i (&x)[4]) {
  const __m256i low_01 = _mm256_unpacklo_epi32(x[0], x[1]);
  const __m256i low_23 = _mm256_unpacklo_epi32(x[2], x[3]);
  const __m256i high_01 = _mm256_unpackhi_epi32(x[0], x[1]);
  const __m256i high_23 = _mm256_unpackhi_epi32(x[2], x[3]);
  x[0] = _mm256_unpacklo_epi64(low_01, low_23);
  x[1] = _mm256_unpackhi_epi64(low_01, low_23);
  x[2] = _mm256_unpacklo_epi64(high_01, high_23);
  x[3] = _mm256_unpackhi_epi64(high_01, high_23);
}

// The first four message words of kU32Lanes short words, one word per lane, each followed by the
// mark 0x80; and their lengths in bits. A word that is not short counts as empty.
inline void load_short(const Span<const char>* words, U32s (&message)[4], U32s& bit_count) {
  __m256i x[4];
  for (int i = 0; i < 4; ++i) x[i] = paired(marked(words[i]), marked(words[i + 4]));
  transpose(x);
  for (int i = 0; i < 4; ++i) message[i] = {x[i]};
  const auto size = [words](int i) { return static_cast<int>(words[i].size); };
  const __m256i sizes =
      _mm256_setr_epi32(size(0), size(1), size(2), size(3), size(4), size(5), size(6), size(7));
  bit_count = {_mm256_slli_epi32(sizes, 3)};
}

// The digests of kU32Lanes final states.
inline void store_digests(Md5* out, const U32s& a, const U32s& b, const U32s& c, const U32s& d) {
  // In memory the low half of a little-endian integer stands first.
  __m256i x[4] = {b.lanes, a.lanes, d.lanes, c.lanes};
  transpose(x);
  const __m256i swapped = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
  for (int i = 0; i < 4; ++i) {
    const __m256i digests = _mm256_shuffle_epi8(x[i], swapped);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm256_castsi256_si128(digests));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i + 4), _mm256_extracti128_si256(digests, 1));
  }
}
