// CRC-32 as zlib has it: the polynomial of IEEE 802.3, bits reflected.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/span.h"

namespace ebb {

// The checksum of what `crc` is of (0: of nothing), followed by these bytes.
std::uint32_t crc32(Span<const char> bytes, std::uint32_t crc = 0);

}  // namespace ebb
