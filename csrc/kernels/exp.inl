// exp_f32: e to the x for the exponents of decay, x <= 0. Bit-equal family.
// Contract: at most 0.90 ulp from the true value for every float in [-87, 0] (all were tried);
// 0 below -87, 1 above 0. x is finite.
// Bound by arithmetic while the column is in cache (about 27 operations for 16 values), by
// memory beyond.

// Rows of which intermediate results stay in the first cache.
constexpr std::size_t kChunk = 128;

inline std::size_t chunk_size(std::size_t left) { return left < kChunk ? left : kChunk; }

// Exponents on their way to their powers: x = k ln 2 + r + r_low, with k in the lowest bits of
// `rounded`. Reduction and polynomial are passes of their own: the shorter what has to be waited
// for, the more of it is under way at a time.
struct ReducedExponents {
  float rounded[kChunk];
  float r[kChunk];
  float r_low[kChunk];
};

// x = k ln 2 + r with |r| <= 0.35, so that e^x = 2^k (1 + r + r^2 tail(r)). The first part of ln 2
// has 15 bits, which makes its product with k exact; r_low is what rounding r lost.
inline void reduce(const F32x16& given, std::size_t i, ReducedExponents& out) {
  const F32x16 x = min(given, zero());
  const F32x16 rounder = broadcast(0x1.8p23f);
  const F32x16 rounded = add(mul(x, broadcast(0x1.715476p+0f)), rounder);
  const F32x16 k = sub(rounded, rounder);
  const F32x16 coarse = sub(x, mul(k, broadcast(0x1.62e4p-1f)));
  const F32x16 shift = mul(k, broadcast(0x1.7f7d1cp-20f));
  const F32x16 r = sub(coarse, shift);
  store(out.rounded + i, rounded);
  store(out.r + i, r);
  store(out.r_low + i, sub(sub(coarse, r), shift));
}

inline F32x16 power_of(const ReducedExponents& reduced, std::size_t i) {
  const F32x16 r = load(reduced.r + i);
  // Equal-ripple fit of (e^r - 1 - r) / r^2, within 0.06 ulp of the result.
  F32x16 tail = broadcast(0x1.6a2318p-10f);
  tail = add(mul(tail, r), broadcast(0x1.123a8ep-7f));
  tail = add(mul(tail, r), broadcast(0x1.5558f6p-5f));
  tail = add(mul(tail, r), broadcast(0x1.555490p-3f));
  tail = add(mul(tail, r), broadcast(0x1.fffffcp-2f));
  const F32x16 beyond_one = add(r, add(mul(mul(r, r), tail), load(reduced.r_low + i)));
  return scale_by_low_bits(add(broadcast(1.0f), beyond_one), load(reduced.rounded + i));
}

// The powers of a chunk, of whole lanes; `out` may be `x`.
inline void exp_chunk(const float* x, std::size_t size, float* out) {
  ReducedExponents reduced;
  for (std::size_t i = 0; i < size; i += kLanes) reduce(load(x + i), i, reduced);
  for (std::size_t i = 0; i < size; i += kLanes) {
    // Below the least exponent, what was made of it means nothing.
    store(out + i, zero_unless_at_least(load(x + i), broadcast(-87.0f), power_of(reduced, i)));
  }
}

void exp_f32(const float* x, std::size_t count, float* out) {
  const std::size_t whole = count / kLanes * kLanes;
  for (std::size_t begin = 0; begin < whole; begin += kChunk) {
    exp_chunk(x + begin, chunk_size(whole - begin), out + begin);
  }
  if (whole == count) return;
  float last[kLanes] = {};
  std::memcpy(last, x + whole, (count - whole) * sizeof(float));
  exp_chunk(last, kLanes, last);
  std::memcpy(out + whole, last, (count - whole) * sizeof(float));
}
