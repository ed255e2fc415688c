// F64 as one double: the spelling that the wider lanes of the kernels repeat. What is done to one
// lane does not depend on the others, so their number is each instruction set's own.
// Needs <cstdint> and <cstring>; includes nothing, so that it can stand inside a namespace.

struct F64 {
  double value;
};

constexpr std::size_t kF64Lanes = 1;

inline std::uint64_t bits_of(const F64& a) {
  std::uint64_t bits;
  std::memcpy(&bits, &a.value, sizeof bits);
  return bits;
}

inline F64 from_bits(std::uint64_t bits) {
  F64 a;
  std::memcpy(&a.value, &bits, sizeof bits);
  return a;
}

inline F64 f64(double x) { return {x}; }

inline F64 load(const double* p) { return {*p}; }

inline void store(double* p, const F64& a) { *p = a.value; }

inline F64 add(const F64& a, const F64& b) { return {a.value + b.value}; }

inline F64 sub(const F64& a, const F64& b) { return {a.value - b.value}; }

inline F64 mul(const F64& a, const F64& b) { return {a.value * b.value}; }

inline F64 div(const F64& a, const F64& b) { return {a.value / b.value}; }

inline F64 negative(const F64& a) { return {-a.value}; }

// Where the two cannot be ordered or are equal, min and max give b.
inline F64 min(const F64& a, const F64& b) { return a.value < b.value ? a : b; }

inline F64 max(const F64& a, const F64& b) { return a.value > b.value ? a : b; }

// a where x >= limit, elsewhere (and where they cannot be ordered) b.
inline F64 choose_at_least(const F64& x, const F64& limit, const F64& a, const F64& b) {
  return x.value >= limit.value ? a : b;
}

// Every bit that one of the two has.
inline F64 bits_or(const F64& a, const F64& b) { return from_bits(bits_of(a) | bits_of(b)); }

// The upper 26 bits of the significand.
inline F64 upper_half(const F64& a) { return from_bits(bits_of(a) & ~std::uint64_t{0x7ffffff}); }

// Nearest integer, halves to even, for |a| < 2^51. Adding 1.5 * 2^52 leaves no bit for fractions.
inline F64 round_even(const F64& a) { return {(a.value + 0x1.8p52) - 0x1.8p52}; }

// a = 2^octave(a) * mantissa(a) with the mantissa in [sqrt(1/2), sqrt(2)), for a positive, normal,
// finite a. Above the bits of sqrt(1/2) counts as the next octave; 1024 octaves keep it positive.
constexpr std::uint64_t kSqrtHalfBits = 0x3fe6a09e667f3bcd;
constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << 52) - 1;
constexpr std::uint64_t kOctaveShift = (std::uint64_t{1024} << 52) - kSqrtHalfBits;

inline F64 octave(const F64& a) {
  return {static_cast<double>((bits_of(a) + kOctaveShift) >> 52) - 1024.0};
}

inline F64 mantissa(const F64& a) {
  return from_bits(((bits_of(a) + kOctaveShift) & kMantissaMask) + kSqrtHalfBits);
}

// 2 to the n for integer-valued n in [-1022, 1023].
inline F64 power_of_two(const F64& n) {
  return from_bits(static_cast<std::uint64_t>(static_cast<std::int64_t>(n.value) + 1023) << 52);
}

// a * 2^n for integer-valued n in [-1100, 1100] and a in [1/2, 2]: two steps, the first exact.
inline F64 scale_by_power(const F64& a, const F64& n) {
  const F64 most = min(max(n, f64(-1000.0)), f64(1000.0));
  return mul(mul(a, power_of_two(most)), power_of_two(sub(n, most)));
}

// now - since as doubles, at least 0; like the difference, it wraps around.
inline F64 load_since(const std::int64_t* since, std::int64_t now) {
  const auto gone = static_cast<std::int64_t>(static_cast<std::uint64_t>(now) -
                                              static_cast<std::uint64_t>(*since));
  return {static_cast<double>(gone > 0 ? gone : 0)};
}

// From and to floats in memory, one per lane.
inline F64 load_wide(const float* p) { return {static_cast<double>(*p)}; }

inline void store_narrow(float* p, const F64& a) { *p = static_cast<float>(a.value); }
