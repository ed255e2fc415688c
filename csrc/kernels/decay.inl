// Columns of decay: strengths and times of many memories -> one number per memory. Bit-equal
// family. `count` is a multiple of kLanes.
// Bound by memory beyond the last cache; within it by arithmetic: for four lanes at a time, about
// 10 operations a row for retention, 15 for log weights, 35 for powers.
//
// A column that must not hold NaN, infinity or a negative value is looked at on the way: each
// function returns whether all was well, in doubt false.

// What a column has held so far: a bit in `strange` where a difference was not finite (or too
// large to tell), the sign bit in `signs` where a value was below 0 (or -0).
struct Seen {
  F64 strange;
  F64 signs;
};

inline F64 strangeness(const F64& x) { return sub(x, x); }

inline bool all_well(const Seen& seen) {
  double strange[kF64Lanes];
  double signs[kF64Lanes];
  store(strange, seen.strange);
  store(signs, seen.signs);
  std::uint64_t bits = 0;
  for (std::size_t l = 0; l < kF64Lanes; ++l) {
    std::uint64_t word;
    std::memcpy(&word, strange + l, sizeof word);
    bits |= word;
    std::memcpy(&word, signs + l, sizeof word);
    bits |= word >> 63;
  }
  return bits == 0;
}

void elapsed_f64(const std::int64_t* since, std::int64_t now, double unit, std::size_t count,
                 double* out) {
  for (std::size_t i = 0; i < count; i += kF64Lanes) {
    store(out + i, div(load_since(since + i, now), f64(unit)));
  }
}

// rate * (1 - a * strength) * (1 - b * intensity), the two brackets first.
void slowed_rates_f64(const double* strength, const double* intensity, const Slowing& law,
                      std::size_t count, double* out) {
  const F64 one = f64(1.0);
  for (std::size_t i = 0; i < count; i += kF64Lanes) {
    const F64 by_strength = sub(one, mul(f64(law.by_strength), load(strength + i)));
    const F64 by_intensity = sub(one, mul(f64(law.by_intensity), load(intensity + i)));
    store(out + i, mul(f64(law.rate), mul(by_strength, by_intensity)));
  }
}

// Each of the three makes a stability grow up to threefold.
void grown_stabilities_f64(const double* importance, const double* strength,
                           const double* intensity, double stability, std::size_t count,
                           double* out) {
  const F64 one = f64(1.0);
  const F64 two = f64(2.0);
  for (std::size_t i = 0; i < count; i += kF64Lanes) {
    const F64 by_strength = add(one, mul(two, load(strength + i)));
    const F64 by_intensity = add(one, mul(two, load(intensity + i)));
    const F64 share = div(sub(load(importance + i), one), f64(9.0));
    const F64 gained = mul(f64(stability), mul(by_strength, by_intensity));
    store(out + i, mul(gained, add(one, mul(two, share))));
  }
}

// The power of e as a float, and what that lost, which a factor 1 + loss makes up for. The kernel
// of the exponential gives 0 below -87; stopping there also keeps an overflowed product out.
inline void float_power(const F64& idle, const F64& rate, float* power, double* loss) {
  const F64 waned = mul(rate, max(idle, f64(0.0)));
  const F64 exact = max(negative(waned), f64(-88.0));
  store_narrow(power, exact);
  store(loss, sub(exact, load_wide(power)));
}

bool retention_f64(const double* anchor, const double* idle, const double* rate, std::size_t count,
                   float* out) {
  float power[kChunk];
  double loss[kChunk];
  Seen seen = {f64(0.0), f64(0.0)};
  for (std::size_t begin = 0; begin < count; begin += kChunk) {
    const std::size_t size = chunk_size(count - begin);
    for (std::size_t i = 0; i < size; i += kF64Lanes) {
      const F64 time = load(idle + begin + i);
      const F64 pace = load(rate + begin + i);
      // Not finite where one of the three is not.
      const F64 all = sub(sub(pace, time), load(anchor + begin + i));
      seen.strange = bits_or(seen.strange, strangeness(all));
      seen.signs = bits_or(seen.signs, pace);
      float_power(time, pace, power + i, loss + i);
    }
    exp_f32(power, size, power);
    for (std::size_t i = 0; i < size; i += kF64Lanes) {
      const F64 kept = mul(load_wide(power + i), add(f64(1.0), load(loss + i)));
      store_narrow(out + begin + i, mul(load(anchor + begin + i), kept));
    }
  }
  return all_well(seen);
}

// Numbers on their way to a logarithm. Its division, its polynomial and what follows are passes of
// their own: the shorter what has to be waited for, the more of it is under way at a time.
struct OctavedChunk {
  double k[kChunk];
  double f[kChunk];
  double s[kChunk];
};

inline void store(OctavedChunk& chunk, std::size_t i, const Octaved& x) {
  store(chunk.k + i, x.k);
  store(chunk.f + i, x.f);
  store(chunk.s + i, x.s);
}

inline Octaved load(const OctavedChunk& chunk, std::size_t i) {
  return {load(chunk.k + i), load(chunk.f + i), load(chunk.s + i)};
}

struct TwofoldChunk {
  double high[kChunk];
  double low[kChunk];
};

inline void store(TwofoldChunk& chunk, std::size_t i, const Twofold& x) {
  store(chunk.high + i, x.high);
  store(chunk.low + i, x.low);
}

inline Twofold load(const TwofoldChunk& chunk, std::size_t i) {
  return {load(chunk.high + i), load(chunk.low + i)};
}

bool log_weights_f64(const double* importance, const double* age, double rate, std::size_t count,
                     double* out) {
  OctavedChunk numbers;
  Seen seen = {f64(0.0), f64(0.0)};
  for (std::size_t begin = 0; begin < count; begin += kChunk) {
    const std::size_t size = chunk_size(count - begin);
    for (std::size_t i = 0; i < size; i += kF64Lanes) {
      store(numbers, i, octaved_of_any(load(importance + begin + i)));
    }
    for (std::size_t i = 0; i < size; i += kF64Lanes) {
      const F64 weight = load(importance + begin + i);
      const F64 old = load(age + begin + i);
      seen.strange = bits_or(seen.strange, strangeness(sub(weight, old)));
      seen.signs = bits_or(seen.signs, weight);
      const F64 ln =
          choose_at_least(weight, f64(0x1p-1074), log_of(load(numbers, i)), f64(-kInfinity));
      store(out + begin + i, sub(ln, mul(f64(rate), max(old, f64(0.0)))));
    }
  }
  return all_well(seen);
}

// 1 + factor * max(elapsed, 0) / stability, on its way to its logarithm.
inline void power_bases(const double* elapsed, const double* stability, double factor,
                        std::size_t size, Seen& seen, OctavedChunk& out) {
  for (std::size_t i = 0; i < size; i += kF64Lanes) {
    const F64 time = load(elapsed + i);
    const F64 stable = load(stability + i);
    const F64 base = add(f64(1.0), div(mul(f64(factor), max(time, f64(0.0))), stable));
    const F64 both = strangeness(sub(stable, time));
    seen.strange = bits_or(seen.strange, bits_or(both, strangeness(base)));
    seen.signs = bits_or(seen.signs, stable);
    store(out, i, octaved(base, f64(0.0)));
  }
}

bool power_f64(const double* elapsed, const double* stability, const PowerLaw& law,
               std::size_t count, double* out) {
  OctavedChunk bases;
  TwofoldChunk powers;
  double octaves[kChunk];
  Seen seen = {f64(0.0), f64(0.0)};
  const F64 exponent = f64(-law.exponent);
  const Twofold parts = {upper_half(exponent), sub(exponent, upper_half(exponent))};
  for (std::size_t begin = 0; begin < count; begin += kChunk) {
    const std::size_t size = chunk_size(count - begin);
    power_bases(elapsed + begin, stability + begin, law.factor, size, seen, bases);
    for (std::size_t i = 0; i < size; i += kF64Lanes) {
      store(powers, i, log_twofold(load(bases, i)));
    }
    for (std::size_t i = 0; i < size; i += kF64Lanes) {
      const Reduced power = reduced(product_of(load(powers, i), parts));
      store(octaves + i, power.k);
      store(powers, i, power.r);
    }
    for (std::size_t i = 0; i < size; i += kF64Lanes) {
      store(out + begin + i, exp_of({load(octaves + i), load(powers, i)}));
    }
  }
  return all_well(seen);
}
