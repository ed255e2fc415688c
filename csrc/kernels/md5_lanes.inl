// md5_short: the MD5 (RFC 1321) of many words of at most kShortWord bytes, one word per lane.
// Bit-equal family.
// Bound by arithmetic: about 550 operations for each vector of words. One vector waits for its own
// results most of the time, so four are worked on in turn.
//
// A short word fills message words 0 to 3 (with its mark 0x80) and 14 (its length in bits); the
// other eleven are 0, and adding them is left out.

// Which message word step `i` takes, and how far it turns.
constexpr unsigned message_word(unsigned i) {
  constexpr unsigned first[4] = {0, 1, 5, 0};
  constexpr unsigned stride[4] = {1, 5, 3, 7};
  return (first[i / 16] + stride[i / 16] * i) % 16;
}

constexpr int turn(unsigned i) {
  constexpr int turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  return turns[i / 16][i % 4];
}

// One word per lane, on its way through the steps.
struct Md5Lanes {
  // Written out, or messages would be set to zeros first: that takes longer than a round of steps.
  Md5Lanes() {}  // NOLINT(modernize-use-equals-default)

  U32s a = broadcast_u32(0x67452301);
  U32s b = broadcast_u32(0xefcdab89);
  U32s c = broadcast_u32(0x98badcfe);
  U32s d = broadcast_u32(0x10325476);
  U32s message[4];
  U32s bit_count;
};

// sum + the round's function of x, y and z.
template <unsigned I>
[[gnu::always_inline]] inline U32s plus_mixed(const U32s& sum, const U32s& x, const U32s& y,
                                              const U32s& z) {
  if constexpr (I < 16) {
    return add(sum, bits_xor(z, bits_and(x, bits_xor(y, z))));
  } else if constexpr (I < 32) {
    // The two parts share no bit: each is added as soon as it is there.
    return add(add(sum, bits_and_not(z, y)), bits_and(z, x));
  } else if constexpr (I < 48) {
    return add(sum, bits_xor(x, bits_xor(y, z)));
  } else {
    return add(sum, bits_xor(y, bits_or_not(x, z)));
  }
}

template <unsigned I>
[[gnu::always_inline]] inline void step(const Md5Lanes& lanes, U32s& a, const U32s& b,
                                        const U32s& c, const U32s& d) {
  constexpr unsigned word = message_word(I);
  U32s sum = add(a, broadcast_u32(kMd5Sines[I]));
  if constexpr (word < 4) sum = add(sum, lanes.message[word]);
  if constexpr (word == 14) sum = add(sum, lanes.bit_count);
  a = add(b, rotated_left<turn(I)>(plus_mixed<I>(sum, b, c, d)));
}

// Four steps: after them the names are back where they were. `b` is the newest of the four: what
// does not depend on it is ready by the time it is.
template <unsigned I>
[[gnu::always_inline]] inline void four_steps(Md5Lanes& s) {
  step<I>(s, s.a, s.b, s.c, s.d);
  step<I + 1>(s, s.d, s.a, s.b, s.c);
  step<I + 2>(s, s.c, s.d, s.a, s.b);
  step<I + 3>(s, s.b, s.c, s.d, s.a);
}

// Steps I to 63 of several vectors of words, four of each in turn: few enough that a processor
// sees the others' while this one's wait, enough that keeping states in memory is cheap.
template <unsigned I, typename... Lanes>
[[gnu::always_inline]] inline void all_steps(Lanes&... each) {
  (four_steps<I>(each), ...);
  if constexpr (I + 4 < 64) all_steps<I + 4>(each...);
}

// The first `count` words, of at least one: lanes without a word repeat the first.
inline void load_words(const Span<const char>* words, std::size_t count, Md5Lanes& lanes) {
  if (count >= kU32Lanes) return load_short(words, lanes.message, lanes.bit_count);
  Span<const char> padded[kU32Lanes];
  for (std::size_t i = 0; i < kU32Lanes; ++i) padded[i] = words[i < count ? i : 0];
  load_short(padded, lanes.message, lanes.bit_count);
}

inline void finish(const Md5Lanes& s, std::size_t count, Md5* digests) {
  const Md5Lanes first;
  const auto store = [&](Md5* out) {
    store_digests(out, add(s.a, first.a), add(s.b, first.b), add(s.c, first.c), add(s.d, first.d));
  };
  if (count >= kU32Lanes) return store(digests);
  Md5 found[kU32Lanes];
  store(found);
  for (std::size_t i = 0; i < count; ++i) digests[i] = found[i];
}

// Words for every vector in `each`, back to back; only the last may lack some.
template <typename... Lanes>
[[gnu::always_inline]] inline void digest_vectors(const Span<const char>* words, std::size_t count,
                                                  Md5* digests, Lanes&... each) {
  std::size_t at = 0;
  ((load_words(words + at, count - at, each), at += kU32Lanes), ...);
  all_steps<0>(each...);
  at = 0;
  ((finish(each, count - at, digests + at), at += kU32Lanes), ...);
}

// The same out of line, for three vectors and more: their states do not fit the registers of most
// processors, and compilers that are free to move them between those and memory do it too often.
// One or two stay in registers: handing them over would cost two a quarter more.
template <typename... Lanes>
[[gnu::noinline]] void digest_many(const Span<const char>* words, std::size_t count, Md5* digests,
                                   Lanes&... each) {
  digest_vectors(words, count, digests, each...);
}

void md5_short(const Span<const char>* words, std::size_t count, Md5* digests) {
  constexpr std::size_t kWhole = 4 * kU32Lanes;
  for (; count > 3 * kU32Lanes; words += kWhole, digests += kWhole) {
    Md5Lanes w, x, y, z;
    digest_many(words, count, digests, w, x, y, z);
    if (count <= kWhole) return;
    count -= kWhole;
  }
  if (count == 0) return;
  Md5Lanes x, y, z;
  if (count <= kU32Lanes) {
    digest_vectors(words, count, digests, x);
  } else if (count <= 2 * kU32Lanes) {
    digest_vectors(words, count, digests, x, y);
  } else {
    digest_many(words, count, digests, x, y, z);
  }
}
