// MD5 (RFC 1321) of one message. Not for security: it is the hash the word-hash embedders are
// defined on, so it must be the same everywhere, also where a host forbids MD5.
#pragma once

#include <cstdint>

#include "core/span.h"

namespace ebb {

// The 16 digest bytes read as one big-endian 128-bit integer: int(hexdigest, 16) in Python.
// Not set to anything by default: they come in arrays that are about to be written.
struct Md5 {
  std::uint64_t high;
  std::uint64_t low;

  // Bit `index` for index < 128; 0 is the lowest.
  bool bit(unsigned index) const { return (((index < 64 ? low : high) >> (index % 64)) & 1) != 0; }

  // The integer mod `divisor`, for a divisor in 1..2^32.
  std::uint64_t mod(std::uint64_t divisor) const {
    return (divisor & (divisor - 1)) == 0 ? low & (divisor - 1) : divided(divisor);
  }

 private:
  std::uint64_t divided(std::uint64_t divisor) const;
};

// floor(2^32 * |sin(i + 1)|), the constant of each step. Defined out of sight, so that a kernel
// loads them: made from immediates, as compilers like to, they cost more than the steps.
extern const std::uint32_t kMd5Sines[64];

// The digest of a message of any length. Cannot fail; `message.data` may be null when empty.
Md5 md5(Span<const char> message);

}  // namespace ebb
