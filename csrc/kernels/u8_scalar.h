// U8x64 in plain C++: 64 bytes. The spelling that every instruction set repeats.
// Includes nothing, so that it can stand inside a target region.
#pragma once

struct U8x64 {
  unsigned char lane[64];
};

inline U8x64 load_u8(const unsigned char* p) {
  U8x64 v;
  std::memcpy(v.lane, p, sizeof v.lane);
  return v;
}

inline U8x64 low_nibbles(const U8x64& a) {
  U8x64 v;
  for (int l = 0; l < 64; ++l) v.lane[l] = a.lane[l] & 15;
  return v;
}

inline U8x64 high_nibbles(const U8x64& a) {
  U8x64 v;
  for (int l = 0; l < 64; ++l) v.lane[l] = static_cast<unsigned char>(a.lane[l] >> 4);
  return v;
}

// table[nibble] of each lane, for a table of 16.
inline U8x64 looked_up(const unsigned char* table, const U8x64& nibbles) {
  U8x64 v;
  for (int l = 0; l < 64; ++l) v.lane[l] = table[nibbles.lane[l]];
  return v;
}

// Bit l is set where lane l of the two have a bit in common.
inline std::uint64_t lanes_that_meet(const U8x64& a, const U8x64& b) {
  std::uint64_t bits = 0;
  for (int l = 0; l < 64; ++l) bits |= std::uint64_t{(a.lane[l] & b.lane[l]) != 0} << l;
  return bits;
}
