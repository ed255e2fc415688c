// U32s on one q register: four 32-bit integers.
// Includes nothing, like the vector types of the other instruction sets.
#pragma once

struct U32s {
  uint32x4_t lanes;
};

constexpr std::size_t kU32Lanes = 4;

inline U32s broadcast_u32(std::uint32_t x) { return {vdupq_n_u32(x)}; }

inline U32s add(const U32s& a, const U32s& b) { return {vaddq_u32(a.lanes, b.lanes)}; }

inline U32s bits_and(const U32s& a, const U32s& b) { return {vandq_u32(a.lanes, b.lanes)}; }

inline U32s bits_xor(const U32s& a, const U32s& b) { return {veorq_u32(a.lanes, b.lanes)}; }

// ~a & b.
inline U32s bits_and_not(const U32s& a, const U32s& b) { return {vbicq_u32(b.lanes, a.lanes)}; }

// a | ~b.
inline U32s bits_or_not(const U32s& a, const U32s& b) { return {vornq_u32(a.lanes, b.lanes)}; }

// Each lane turned left by Bits of 1..31.
template <int Bits>
inline U32s rotated_left(const U32s& a) {
  return {vsriq_n_u32(vshlq_n_u32(a.lanes, Bits), a.lanes, 32 - Bits)};
}

// A short word, the mark, zeros; a word that is not short counts as empty.
inline uint32x4_t marked(const Span<const char>& word) {
  unsigned char bytes[16] = {};
  const std::size_t size = word.size <= kShortWord ? word.size : 0;
  if (size > 0) std::memcpy(bytes, word.data, size);
  bytes[size] = 0x80;
  return vreinterpretq_u32_u8(vld1q_u8(bytes));
}

inline uint32x4_t low_pairs(uint32x4_t x, uint32x4_t y) {
  return vreinterpretq_u32_u64(vzip1q_u64(vreinterpretq_u64_u32(x), vreinterpretq_u64_u32(y)));
}

inline uint32x4_t high_pairs(uint32x4_t x, uint32x4_t y) {
  return vreinterpretq_u32_u64(vzip2q_u64(vreinterpretq_u64_u32(x), vreinterpretq_u64_u32(y)));
}

// Rows become columns.
inline void transpose(uint32x4_t (&x)[4]) {
  const uint32x4_t low_01 = vzip1q_u32(x[0], x[1]);
  const uint32x4_t low_23 = vzip1q_u32(x[2], x[3]);
  const uint32x4_t high_01 = vzip2q_u32(x[0], x[1]);
  const uint32x4_t high_23 = vzip2q_u32(x[2], x[3]);
  x[0] = low_pairs(low_01, low_23);
  x[1] = high_pairs(low_01, low_23);
  x[2] = low_pairs(high_01, high_23);
  x[3] = high_pairs(high_01, high_23);
}

// The first four message words of kU32Lanes short words, one word per lane, each followed by the
// mark 0x80; and their lengths in bits. A word that is not short counts as empty.
inline void load_short(const Span<const char>* words, U32s (&message)[4], U32s& bit_count) {
  uint32x4_t x[4];
  std::uint32_t bits[4];
  for (int i = 0; i < 4; ++i) {
    x[i] = marked(words[i]);
    bits[i] = words[i].size <= kShortWord ? static_cast<std::uint32_t>(8 * words[i].size) : 0;
  }
  transpose(x);
  for (int i = 0; i < 4; ++i) message[i] = {x[i]};
  bit_count = {vld1q_u32(bits)};
}

// The digests of kU32Lanes final states.
inline void store_digests(Md5* out, const U32s& a, const U32s& b, const U32s& c, const U32s& d) {
  // In memory the low half of a little-endian integer stands first.
  uint32x4_t x[4] = {b.lanes, a.lanes, d.lanes, c.lanes};
  transpose(x);
  for (int i = 0; i < 4; ++i) {
    const uint8x16_t swapped = vrev32q_u8(vreinterpretq_u8_u32(x[i]));
    vst1q_u8(reinterpret_cast<std::uint8_t*>(out + i), swapped);
  }
}
