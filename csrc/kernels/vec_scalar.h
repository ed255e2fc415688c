// F32x16 in plain C++: the spelling and the reduction tree that every instruction set repeats.
// Includes nothing, so that it can stand inside a target region.
#pragma once

struct F32x16 {
  float lane[16];
};

inline F32x16 zero() { return F32x16{}; }

inline F32x16 broadcast(float x) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) v.lane[l] = x;
  return v;
}

inline F32x16 load(const float* p) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) v.lane[l] = p[l];
  return v;
}

inline void store(float* p, const F32x16& v) {
  for (int l = 0; l < 16; ++l) p[l] = v.lane[l];
}

inline F32x16 add(const F32x16& a, const F32x16& b) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) v.lane[l] = a.lane[l] + b.lane[l];
  return v;
}

inline F32x16 mul(const F32x16& a, const F32x16& b) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) v.lane[l] = a.lane[l] * b.lane[l];
  return v;
}

inline F32x16 sub(const F32x16& a, const F32x16& b) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) v.lane[l] = a.lane[l] - b.lane[l];
  return v;
}

// Where the two cannot be ordered or are equal, min and max give b.
inline F32x16 min(const F32x16& a, const F32x16& b) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) v.lane[l] = a.lane[l] < b.lane[l] ? a.lane[l] : b.lane[l];
  return v;
}

inline F32x16 max(const F32x16& a, const F32x16& b) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) v.lane[l] = a.lane[l] > b.lane[l] ? a.lane[l] : b.lane[l];
  return v;
}

// Nearest integer, halves to even, for |a| < 2^22. Adding 1.5 * 2^23 leaves no bit for fractions.
inline F32x16 round_even(const F32x16& a) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) v.lane[l] = (a.lane[l] + 0x1.8p23f) - 0x1.8p23f;
  return v;
}

inline std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

inline float of_bits(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// a * 2^k for integer-valued k in [-126, 127].
inline F32x16 scale_by_power(const F32x16& a, const F32x16& k) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) {
    v.lane[l] = a.lane[l] * of_bits(static_cast<unsigned>(static_cast<int>(k.lane[l]) + 127) << 23);
  }
  return v;
}

// a * 2^n for the integer n that is in the lowest bits of `rounded`, where a and the result are
// normal.
inline F32x16 scale_by_low_bits(const F32x16& a, const F32x16& rounded) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) {
    v.lane[l] = of_bits(bits_of(a.lane[l]) + (bits_of(rounded.lane[l]) << 23));
  }
  return v;
}

// The upper 12 bits of the significand.
inline F32x16 upper_half(const F32x16& a) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) v.lane[l] = of_bits(bits_of(a.lane[l]) & 0xfffff000);
  return v;
}

// Every bit that one of the two has.
inline F32x16 bits_or(const F32x16& a, const F32x16& b) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) v.lane[l] = of_bits(bits_of(a.lane[l]) | bits_of(b.lane[l]));
  return v;
}

// a where x >= limit, elsewhere (and where they cannot be ordered) +0.
inline F32x16 zero_unless_at_least(const F32x16& x, const F32x16& limit, const F32x16& a) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) v.lane[l] = x.lane[l] >= limit.lane[l] ? a.lane[l] : 0.0f;
  return v;
}

// Fold the upper half of the lanes onto the lower half until one is left.
inline float reduce_add(const F32x16& a) {
  float x[16];
  for (int l = 0; l < 16; ++l) x[l] = a.lane[l];
  for (int half = 8; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) x[l] = x[l] + x[l + half];
  }
  return x[0];
}

inline F32x16 load_integers(const std::int32_t* p) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) v.lane[l] = static_cast<float>(p[l]);
  return v;
}

// Bit l is set unless lane l of a is less than that of b; NaN is not less.
inline std::uint32_t not_less(const F32x16& a, const F32x16& b) {
  std::uint32_t bits = 0;
  for (int l = 0; l < 16; ++l) bits |= static_cast<std::uint32_t>(!(a.lane[l] < b.lane[l])) << l;
  return bits;
}
