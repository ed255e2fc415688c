// U8x64 on four registers of 16 bytes.
// Includes nothing, so that it can stand inside a target region.
#pragma once

struct U8x64 {
  uint8x16_t part[4];
};

inline U8x64 load_u8(const unsigned char* p) {
  return {{vld1q_u8(p), vld1q_u8(p + 16), vld1q_u8(p + 32), vld1q_u8(p + 48)}};
}

inline U8x64 low_nibbles(const U8x64& a) {
  U8x64 v;
  for (int i = 0; i < 4; ++i) v.part[i] = vandq_u8(a.part[i], vdupq_n_u8(15));
  return v;
}

inline U8x64 high_nibbles(const U8x64& a) {
  U8x64 v;
  for (int i = 0; i < 4; ++i) v.part[i] = vshrq_n_u8(a.part[i], 4);
  return v;
}

// table[nibble] of each lane, for a table of 16.
inline U8x64 looked_up(const unsigned char* table, const U8x64& nibbles) {
  const uint8x16_t sixteen = vld1q_u8(table);
  U8x64 v;
  for (int i = 0; i < 4; ++i) v.part[i] = vqtbl1q_u8(sixteen, nibbles.part[i]);
  return v;
}

// Bit l is set where lane l of the two have a bit in common.
inline std::uint64_t lanes_that_meet(const U8x64& a, const U8x64& b) {
  // Each lane keeps its own bit of eight; sums of neighbours, three times, join eight lanes.
  const uint8x16_t own = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  uint8x16_t met[4];
  for (int i = 0; i < 4; ++i) met[i] = vandq_u8(vtstq_u8(a.part[i], b.part[i]), own);
  const uint8x16_t pairs = vpaddq_u8(vpaddq_u8(met[0], met[1]), vpaddq_u8(met[2], met[3]));
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(pairs, pairs)), 0);
}
