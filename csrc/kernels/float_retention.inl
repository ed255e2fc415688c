// A column of decay in float32: anchors, idle times and rates -> what is left. Bit-equal family.
// Contract: at most 2 ulp from the real value for the floats given, where rate * max(idle, 0),
// rounded, is at most 87; 0 beyond.
// Of those 2: the exponential is within 1.28 * 2^-24 of itself (every float in [0, 87] was tried,
// at a rate of 1), what is left out of its exponent is below 0.1 * 2^-24 (see `WanedChunk`), and
// the product with the anchor rounds by half an ulp. Bound by arithmetic, about 40 operations for
// 16 values; memory keeps up, also beyond the caches.

// x = 2^k e^r for e to the minus `product`, with r = coarse + fine and |r| <= 0.35, on its way to
// its power. The integer k is in the lowest bits of `rounded`.
// A product of floats loses up to 64 ulp of its exponential when it is rounded. Where each factor
// is split into its upper 12 bits and a rest, the product of the upper ones is exact; the others
// are below 2^-10 of it, and so is what they lose.
struct WanedChunk {
  float product[kChunk];
  float rounded[kChunk];
  float coarse[kChunk];
  float fine[kChunk];
};

inline void wane(const F32x16& idle, const F32x16& rate, std::size_t i, WanedChunk& out) {
  const F32x16 time = max(idle, zero());
  const F32x16 product = mul(rate, time);
  const F32x16 rounder = broadcast(0x1.8p23f);
  const F32x16 rounded = add(mul(product, broadcast(-0x1.715476p+0f)), rounder);
  const F32x16 k = sub(rounded, rounder);
  const F32x16 upper_rate = upper_half(rate);
  const F32x16 upper_time = upper_half(time);
  const F32x16 upper = mul(upper_rate, upper_time);
  const F32x16 rest = add(mul(upper_rate, sub(time, upper_time)), mul(sub(rate, upper_rate), time));
  // The first part of ln 2 has 15 bits, which makes its product with k exact, and then `coarse`.
  store(out.product + i, product);
  store(out.rounded + i, rounded);
  store(out.coarse + i, sub(mul(k, broadcast(-0x1.62e4p-1f)), upper));
  store(out.fine + i, sub(mul(k, broadcast(-0x1.7f7d1cp-20f)), rest));
}

// The polynomial of exp_f32, its terms in pairs: less has to be waited for.
inline F32x16 power_of_e(const F32x16& coarse, const F32x16& fine) {
  const F32x16 r = add(coarse, fine);
  const F32x16 square = mul(r, r);
  const F32x16 first = add(broadcast(0x1.fffffcp-2f), mul(broadcast(0x1.555490p-3f), r));
  const F32x16 second = add(broadcast(0x1.5558f6p-5f), mul(broadcast(0x1.123a8ep-7f), r));
  const F32x16 tail = add(first, mul(square, add(second, mul(broadcast(0x1.6a2318p-10f), square))));
  return add(broadcast(1.0f), add(coarse, add(mul(square, tail), fine)));
}

// e to the minus product; 0 where that is above 87.
inline F32x16 share_left(const WanedChunk& waned, std::size_t i) {
  const F32x16 power = power_of_e(load(waned.coarse + i), load(waned.fine + i));
  const F32x16 share = scale_by_low_bits(power, load(waned.rounded + i));
  return zero_unless_at_least(broadcast(87.0f), load(waned.product + i), share);
}

// Whether no bit is set in `strange`, and no sign in `signs`.
inline bool all_well(const F32x16& strange, const F32x16& signs) {
  float lanes[2 * kLanes];
  store(lanes, strange);
  store(lanes + kLanes, signs);
  std::uint32_t bits = 0;
  for (std::size_t l = 0; l < 2 * kLanes; ++l) {
    std::uint32_t word;
    std::memcpy(&word, lanes + l, sizeof word);
    bits |= l < kLanes ? word : word >> 31;
  }
  return bits == 0;
}

bool retention_f32(const float* anchor, const float* idle, const float* rate, std::size_t count,
                   float* out) {
  WanedChunk waned;
  F32x16 strange = zero();
  F32x16 signs = zero();
  for (std::size_t begin = 0; begin < count; begin += kChunk) {
    const std::size_t size = chunk_size(count - begin);
    for (std::size_t i = 0; i < size; i += kLanes) {
      const F32x16 time = load(idle + begin + i);
      const F32x16 pace = load(rate + begin + i);
      // Not finite where one of the three is not.
      const F32x16 all = sub(sub(pace, time), load(anchor + begin + i));
      strange = bits_or(strange, sub(all, all));
      signs = bits_or(signs, pace);
      wane(time, pace, i, waned);
    }
    for (std::size_t i = 0; i < size; i += kLanes) {
      store(out + begin + i, mul(load(anchor + begin + i), share_left(waned, i)));
    }
  }
  return all_well(strange, signs);
}
