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

// The lanes as integers: whole registers at a time, where a compiler finds some.
struct F32Bits {
  std::uint32_t lane[16];
};

inline F32Bits bits_of(const F32x16& a) {
  F32Bits bits;
  std::memcpy(bits.lane, a.lane, sizeof bits.lane);
  return bits;
}

inline F32x16 of_bits(const F32Bits& bits) {
  F32x16 a;
  std::memcpy(a.lane, bits.lane, sizeof a.lane);
  return a;
}

// All ones where `is`.
inline std::uint32_t mask_of(bool is) { return 0u - static_cast<std::uint32_t>(is); }

// a where the mask has ones, b where it has none.
inline F32x16 chosen(const F32Bits& mask, const F32x16& a, const F32x16& b) {
  const F32Bits ones = bits_of(a);
  F32Bits bits = bits_of(b);
  for (int l = 0; l < 16; ++l) bits.lane[l] ^= (bits.lane[l] ^ ones.lane[l]) & mask.lane[l];
  return of_bits(bits);
}

// Where the two cannot be ordered or are equal, min and max give b.
inline F32x16 min(const F32x16& a, const F32x16& b) {
  F32Bits less;
  for (int l = 0; l < 16; ++l) less.lane[l] = mask_of(a.lane[l] < b.lane[l]);
  return chosen(less, a, b);
}

inline F32x16 max(const F32x16& a, const F32x16& b) {
  F32Bits more;
  for (int l = 0; l < 16; ++l) more.lane[l] = mask_of(a.lane[l] > b.lane[l]);
  return chosen(more, a, b);
}

// Nearest integer, halves to even, for |a| < 2^22. Adding 1.5 * 2^23 leaves no bit for fractions.
inline F32x16 round_even(const F32x16& a) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) v.lane[l] = (a.lane[l] + 0x1.8p23f) - 0x1.8p23f;
  return v;
}

// a * 2^n for the integer n that is in the lowest bits of `rounded`, where a and the result are
// normal.
inline F32x16 scale_by_low_bits(const F32x16& a, const F32x16& rounded) {
  F32Bits bits = bits_of(a);
  const F32Bits octaves = bits_of(rounded);
  for (int l = 0; l < 16; ++l) bits.lane[l] += octaves.lane[l] << 23;
  return of_bits(bits);
}

// The upper 12 bits of the significand.
inline F32x16 upper_half(const F32x16& a) {
  F32Bits bits = bits_of(a);
  for (int l = 0; l < 16; ++l) bits.lane[l] &= 0xfffff000;
  return of_bits(bits);
}

// Every bit that one of the two has.
inline F32x16 bits_or(const F32x16& a, const F32x16& b) {
  F32Bits bits = bits_of(a);
  const F32Bits others = bits_of(b);
  for (int l = 0; l < 16; ++l) bits.lane[l] |= others.lane[l];
  return of_bits(bits);
}

// a where x >= limit, elsewhere (and where they cannot be ordered) +0.
inline F32x16 zero_unless_at_least(const F32x16& x, const F32x16& limit, const F32x16& a) {
  F32Bits bits = bits_of(a);
  for (int l = 0; l < 16; ++l) {
    bits.lane[l] &= mask_of(x.lane[l] >= limit.lane[l]);
  }
  return of_bits(bits);
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
