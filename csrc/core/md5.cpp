#include "core/md5.h"

#include <cstring>

namespace ebb {

const std::uint32_t kMd5Sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

namespace {

using Word = std::uint32_t;

constexpr std::size_t kBlock = 64;
constexpr std::size_t kLengthAt = 56;  // the last 8 bytes of the last block hold the bit count

struct State {
  Word a = 0x67452301;
  Word b = 0xefcdab89;
  Word c = 0x98badcfe;
  Word d = 0x10325476;
};

Word rotated_left(Word x, unsigned bits) { return (x << bits) | (x >> (32 - bits)); }

Word byte_swapped(Word x) {
  return (x >> 24) | ((x >> 8) & 0xff00) | ((x << 8) & 0xff0000) | (x << 24);
}

// Written byte by byte so that it is right on every machine; compilers make one load of it.
Word little_endian(const unsigned char* bytes) {
  return static_cast<Word>(bytes[0]) | static_cast<Word>(bytes[1]) << 8 |
         static_cast<Word>(bytes[2]) << 16 | static_cast<Word>(bytes[3]) << 24;
}

// Which message word a step of one round takes, and how far each step in four rotates.
struct Round {
  unsigned first, stride;
  unsigned turns[4];
};

constexpr Round kRounds[4] = {{0, 1, {7, 12, 17, 22}},
                              {1, 5, {5, 9, 14, 20}},
                              {5, 3, {4, 11, 16, 23}},
                              {0, 7, {6, 10, 15, 21}}};

// The 16 steps of round `R`, four at a time: after four the names are back where they were.
template <unsigned R, typename Mix>
inline void run_round(State& s, const Word (&m)[16], Mix mix) {
  constexpr Round round = kRounds[R];
  const auto step = [&](Word& a, Word b, Word c, Word d, unsigned i) {
    const Word sum = a + mix(b, c, d) + m[(round.first + round.stride * i) % 16];
    a = b + rotated_left(sum + kMd5Sines[16 * R + i], round.turns[i % 4]);
  };
  for (unsigned i = 0; i < 16; i += 4) {
    step(s.a, s.b, s.c, s.d, i);
    step(s.d, s.a, s.b, s.c, i + 1);
    step(s.c, s.d, s.a, s.b, i + 2);
    step(s.b, s.c, s.d, s.a, i + 3);
  }
}

void add_block(State& state, const unsigned char* block) {
  Word m[16];
  for (unsigned i = 0; i < 16; ++i) m[i] = little_endian(block + 4 * i);
  State s = state;
  run_round<0>(s, m, [](Word x, Word y, Word z) { return z ^ (x & (y ^ z)); });
  run_round<1>(s, m, [](Word x, Word y, Word z) { return y ^ (z & (x ^ y)); });
  run_round<2>(s, m, [](Word x, Word y, Word z) { return x ^ y ^ z; });
  run_round<3>(s, m, [](Word x, Word y, Word z) { return y ^ (x | ~z); });
  state = {state.a + s.a, state.b + s.b, state.c + s.c, state.d + s.d};
}

void put_bit_count(unsigned char* at, std::uint64_t byte_count) {
  const std::uint64_t bits = byte_count * 8;
  for (unsigned i = 0; i < 8; ++i) at[i] = static_cast<unsigned char>(bits >> (8 * i));
}

// The bytes after the last whole block, the mark 0x80, zeros, the length: one block or two.
void add_tail(State& state, const unsigned char* tail, std::size_t size, std::uint64_t total) {
  unsigned char padded[2 * kBlock] = {};
  if (size > 0) std::memcpy(padded, tail, size);
  padded[size] = 0x80;
  const std::size_t last = size < kLengthAt ? 0 : kBlock;
  put_bit_count(padded + last + kLengthAt, total);
  add_block(state, padded);
  if (last > 0) add_block(state, padded + last);
}

std::uint64_t joined(Word first, Word second) {
  return static_cast<std::uint64_t>(byte_swapped(first)) << 32 | byte_swapped(second);
}

}  // namespace

std::uint64_t Md5::divided(std::uint64_t divisor) const {
  // Long division in base 2^32: a remainder is below 2^32, so shifted it still fits 64 bits.
  const std::uint64_t upper = high % divisor;
  const std::uint64_t middle = (upper << 32 | low >> 32) % divisor;
  return (middle << 32 | (low & 0xffffffff)) % divisor;
}

Md5 md5(Span<const char> message) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(message.data);
  State state;
  std::size_t done = 0;
  for (; message.size - done >= kBlock; done += kBlock) add_block(state, bytes + done);
  add_tail(state, bytes + done, message.size - done, message.size);
  return {joined(state.a, state.b), joined(state.c, state.d)};
}

}  // namespace ebb
