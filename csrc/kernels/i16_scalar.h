// I16x32 in plain C++: 32 lanes of 16-bit integers, and one bit per lane to choose among them.
#pragma once

struct I16x32 {
  std::int16_t lane[32];
};

inline I16x32 i16_broadcast(std::int16_t x) {
  I16x32 v;
  for (int l = 0; l < 32; ++l) v.lane[l] = x;
  return v;
}

inline I16x32 load(const std::int16_t* p) {
  I16x32 v;
  for (int l = 0; l < 32; ++l) v.lane[l] = p[l];
  return v;
}

inline void store(std::int16_t* p, const I16x32& v) {
  for (int l = 0; l < 32; ++l) p[l] = v.lane[l];
}

// Wraps around.
inline I16x32 add(const I16x32& a, const I16x32& b) {
  I16x32 v;
  for (int l = 0; l < 32; ++l) v.lane[l] = static_cast<std::int16_t>(a.lane[l] + b.lane[l]);
  return v;
}

// a where the lane's bit is set, elsewhere 0.
inline I16x32 where_bits(std::uint32_t bits, const I16x32& a) {
  I16x32 v;
  for (int l = 0; l < 32; ++l) v.lane[l] = (bits >> l & 1u) != 0 ? a.lane[l] : std::int16_t{0};
  return v;
}

// The lanes in which a > b.
inline std::uint32_t bits_above(const I16x32& a, const I16x32& b) {
  std::uint32_t bits = 0;
  for (int l = 0; l < 32; ++l) bits |= static_cast<std::uint32_t>(a.lane[l] > b.lane[l]) << l;
  return bits;
}

// The lanes with a * a >= least * value, all in float.
inline std::uint32_t bits_of_large_squares(const I16x32& a, const std::uint16_t* values,
                                           float least) {
  std::uint32_t bits = 0;
  for (int l = 0; l < 32; ++l) {
    const auto x = static_cast<float>(a.lane[l]);
    const float needed = least * static_cast<float>(values[l]);
    bits |= static_cast<std::uint32_t>(x * x >= needed) << l;
  }
  return bits;
}

// The lowest bit that is set; bits is not 0.
inline unsigned lowest_bit(std::uint32_t bits) {
  unsigned at = 0;
  while ((bits >> at & 1u) == 0) ++at;
  return at;
}
