// ln, e^x and powers on lanes of doubles, the one text that the core (one lane) and every table of
// kernels share: additions, multiplications, divisions and bit moves, so all give the same bits.
//
// Stands in a namespace that has F64 and its operations, as f64_one_lane.inl spells them.

// An unevaluated sum: `low` is the part of the value that `high` could not hold.
struct Twofold {
  F64 high;
  F64 low;
};

// ln 2 in two parts. The first has 42 significant bits, so that its product with any exponent of
// a double is exact.
constexpr double kLn2High = 0x1.62e42fefa38p-1;
constexpr double kLn2Low = 0x1.ef35793c7673p-45;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
constexpr double kSmallestNormal = 0x1p-1022;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// a + b for |a| >= |b| or a == 0.
inline Twofold sum_of(const F64& a, const F64& b) {
  const F64 high = add(a, b);
  return {high, sub(b, sub(high, a))};
}

// ln((1+s)/(1-s)) / s - 2 for z = s^2 <= 0.0295: equal-ripple, within 2^-58 of ln. The even and
// the odd powers are summed apart, which halves the wait for results.
inline F64 atanh_tail(const F64& z) {
  const F64 w = mul(z, z);
  F64 even = f64(0x1.2f4fc82d157adp-3);
  even = add(mul(even, w), f64(0x1.7466469cd8bc7p-3));
  even = add(mul(even, w), f64(0x1.2492493fa5217p-2));
  even = add(mul(even, w), f64(0x1.555555555557cp-1));
  F64 odd = f64(0x1.399d484892b3ap-3);
  odd = add(mul(odd, w), f64(0x1.c71c52c4df215p-3));
  odd = add(mul(odd, w), f64(0x1.9999999984885p-2));
  return mul(add(even, mul(odd, z)), z);
}

// A positive number as 2^k * (1 + f), with 1 + f in [sqrt(1/2), sqrt(2)), and s = f / (2 + f).
struct Octaved {
  F64 k;
  F64 f;
  F64 s;
};

// x / 2^moved, for a normal, finite x above 0.
inline Octaved octaved(const F64& x, const F64& moved) {
  const F64 f = sub(mantissa(x), f64(1.0));
  return {sub(octave(x), moved), f, div(f, add(f64(2.0), f))};
}

// x / 1 for any finite x above 0.
inline Octaved octaved_of_any(const F64& x) {
  const F64 normal = f64(kSmallestNormal);
  const F64 moved = choose_at_least(x, normal, f64(0.0), f64(54.0));
  return octaved(choose_at_least(x, normal, x, mul(x, f64(0x1p54))), moved);
}

// The logarithm in two parts that are still to be added; `square` is f^2 / 2, and `rounded` that in
// one number.
//   ln(1 + f) = f - (f^2/2 - s * (f^2/2 + tail(s^2))),
// where f is exact and every rounded quantity is small against it.
inline Twofold log_parts(const Octaved& x, const Twofold& square, const F64& rounded) {
  const F64 bend = mul(x.s, add(rounded, atanh_tail(mul(x.s, x.s))));
  const Twofold first = sum_of(mul(x.k, f64(kLn2High)), x.f);
  const Twofold second = sum_of(first.high, negative(square.high));
  const F64 rest = sub(add(add(mul(x.k, f64(kLn2Low)), first.low), second.low), square.low);
  return {second.high, add(bend, rest)};
}

// The logarithm within 1 ulp.
inline F64 log_of(const Octaved& x) {
  const F64 square = mul(mul(f64(0.5), x.f), x.f);
  const Twofold ln = log_parts(x, {square, f64(0.0)}, square);
  return add(ln.high, ln.low);
}

// The logarithm to about 2^-57.
inline Twofold log_twofold(const Octaved& x) {
  const F64 high = upper_half(x.f);
  const F64 low = sub(x.f, high);
  const F64 half = f64(0.5);
  const Twofold square = {mul(mul(half, high), high), mul(mul(half, low), add(x.f, high))};
  const Twofold ln = log_parts(x, square, add(square.high, square.low));
  return sum_of(ln.high, ln.low);
}

// exponent * ln, for an exponent in two parts, the first of at most 26 significant bits.
inline Twofold product_of(const Twofold& ln, const Twofold& exponent) {
  const F64 high = upper_half(ln.high);
  const F64 low = add(sub(ln.high, high), ln.low);
  const F64 rest = add(mul(exponent.low, high), mul(add(exponent.high, exponent.low), low));
  return sum_of(mul(exponent.high, high), rest);
}

// (e^r - 1 - r) / r^2 for |r| <= 0.3467: equal-ripple, within 2^-56 of e^r.
inline F64 exp_tail(const F64& r) {
  const F64 square = mul(r, r);
  const F64 fourth = mul(square, square);
  const F64 p0 = add(f64(0x1.0000000000009p-1), mul(r, f64(0x1.5555555555558p-3)));
  const F64 p1 = add(f64(0x1.55555555503d3p-5), mul(r, f64(0x1.111111110f7fep-7)));
  const F64 p2 = add(f64(0x1.6c16c18605e4bp-10), mul(r, f64(0x1.a01a01b00e9fdp-13)));
  const F64 p3 = add(f64(0x1.a01993a8367b1p-16), mul(r, f64(0x1.71ddf6ad02cacp-19)));
  const F64 p4 = add(f64(0x1.28b41b74c94b0p-22), mul(r, f64(0x1.af6337e63951dp-26)));
  const F64 high = add(add(p2, mul(p3, square)), mul(p4, fourth));
  return add(add(p0, mul(p1, square)), mul(high, fourth));
}

// k * ln 2 + r, with k a whole number and |r| <= 0.3467.
struct Reduced {
  F64 k;
  Twofold r;
};

// What is beyond the powers of e that a double can hold is moved to where the result is 0 or
// infinity all the same. x.high is at most 2^20 in size, or x.low is 0.
inline Reduced reduced(const Twofold& x) {
  const F64 high = min(max(x.high, f64(-746.0)), f64(710.0));
  const F64 k = round_even(mul(high, f64(kInverseLn2)));
  const F64 coarse = sub(high, mul(k, f64(kLn2High)));  // exact
  const F64 shift = sub(mul(k, f64(kLn2Low)), x.low);
  const F64 r = sub(coarse, shift);
  return {k, {r, sub(sub(coarse, r), shift)}};
}

// e^x within 1 ulp where it is normal and 1.5 where it is not.
inline F64 exp_of(const Reduced& x) {
  const Twofold linear = sum_of(f64(1.0), x.r.high);
  const F64 bend = mul(mul(x.r.high, x.r.high), exp_tail(x.r.high));
  const F64 rest = add(bend, add(linear.low, x.r.low));
  return scale_by_power(add(linear.high, rest), x.k);
}
