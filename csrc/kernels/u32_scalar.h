// U32s in plain C++: one 32-bit integer. The spelling that every instruction set repeats.
// Includes nothing, so that it can stand inside a target region.
#pragma once

struct U32s {
  std::uint32_t lane;
};

constexpr std::size_t kU32Lanes = 1;

inline U32s broadcast_u32(std::uint32_t x) { return {x}; }

inline U32s add(const U32s& a, const U32s& b) { return {a.lane + b.lane}; }

inline U32s bits_and(const U32s& a, const U32s& b) { return {a.lane & b.lane}; }

inline U32s bits_xor(const U32s& a, const U32s& b) { return {a.lane ^ b.lane}; }

// ~a & b.
inline U32s bits_and_not(const U32s& a, const U32s& b) { return {~a.lane & b.lane}; }

// a | ~b.
inline U32s bits_or_not(const U32s& a, const U32s& b) { return {a.lane | ~b.lane}; }

// Each lane turned left by Bits of 1..31.
template <int Bits>
inline U32s rotated_left(const U32s& a) {
  return {(a.lane << Bits) | (a.lane >> (32 - Bits))};
}

inline std::uint32_t little_endian(const unsigned char* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

// The first four message words of kU32Lanes short words, one word per lane, each followed by the
// mark 0x80; and their lengths in bits. A word that is not short counts as empty.
inline void load_short(const Span<const char>* words, U32s (&message)[4], U32s& bit_count) {
  unsigned char bytes[16] = {};
  const std::size_t size = words->size <= kShortWord ? words->size : 0;
  if (size > 0) std::memcpy(bytes, words->data, size);
  bytes[size] = 0x80;
  for (int i = 0; i < 4; ++i) message[i] = {little_endian(bytes + 4 * i)};
  bit_count = {static_cast<std::uint32_t>(8 * size)};
}

inline std::uint64_t joined(std::uint32_t first, std::uint32_t second) {
  std::uint64_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | ((first >> (8 * i)) & 0xff);
  for (int i = 0; i < 4; ++i) value = value << 8 | ((second >> (8 * i)) & 0xff);
  return value;
}

// The digests of kU32Lanes final states.
inline void store_digests(Md5* out, const U32s& a, const U32s& b, const U32s& c, const U32s& d) {
  *out = {joined(a.lane, b.lane), joined(c.lane, d.lane)};
}
