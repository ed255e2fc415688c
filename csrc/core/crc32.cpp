#include "core/crc32.h"

#include <array>

namespace ebb {

namespace {

using Table = std::array<std::uint32_t, 256>;

// Table n tells what a byte does to the checksum when n bytes follow it: eight are taken at once.
constexpr std::array<Table, 8> made_tables() {
  std::array<Table, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t left = byte;
    for (int bit = 0; bit < 8; ++bit) left = (left & 1u) != 0 ? left >> 1 ^ 0xEDB88320u : left >> 1;
    tables[0][byte] = left;
  }
  for (std::size_t n = 1; n < tables.size(); ++n) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[n - 1][byte];
      tables[n][byte] = before >> 8 ^ tables[0][before & 0xFFu];
    }
  }
  return tables;
}

constexpr std::array<Table, 8> kTables = made_tables();

std::uint32_t byte_at(const char* bytes, std::size_t i) {
  return static_cast<unsigned char>(bytes[i]);
}

std::uint32_t four_at(const char* bytes) {
  return byte_at(bytes, 0) | byte_at(bytes, 1) << 8 | byte_at(bytes, 2) << 16 |
         byte_at(bytes, 3) << 24;
}

}  // namespace

std::uint32_t crc32(Span<const char> bytes, std::uint32_t crc) {
  crc = ~crc;
  const char* at = bytes.data;
  std::size_t left = bytes.size;
  for (; left >= 8; left -= 8, at += 8) {
    const std::uint32_t low = four_at(at) ^ crc;
    const std::uint32_t high = four_at(at + 4);
    crc = kTables[7][low & 0xFFu] ^ kTables[6][low >> 8 & 0xFFu] ^ kTables[5][low >> 16 & 0xFFu] ^
          kTables[4][low >> 24] ^ kTables[3][high & 0xFFu] ^ kTables[2][high >> 8 & 0xFFu] ^
          kTables[1][high >> 16 & 0xFFu] ^ kTables[0][high >> 24];
  }
  for (std::size_t i = 0; i < left; ++i) {
    crc = crc >> 8 ^ kTables[0][(crc ^ byte_at(at, i)) & 0xFFu];
  }
  return ~crc;
}

}  // namespace ebb
