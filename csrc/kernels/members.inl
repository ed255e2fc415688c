// ascii_members: which of up to 64 bytes of ASCII are in a set, one bit each. Exact.
// Bound by arithmetic: two table look-ups and a comparison for all 64.

std::uint64_t ascii_members(const char* bytes, std::size_t count, const unsigned char* rows) {
  constexpr unsigned char kBits[16] = {1, 2, 4, 8, 16, 32, 64, 128};
  constexpr std::size_t kBlock = 64;
  unsigned char copy[kBlock] = {};
  const auto* from = reinterpret_cast<const unsigned char*>(bytes);
  if (count < kBlock) {
    std::memcpy(copy, bytes, count);
    from = copy;
  }
  const U8x64 text = load_u8(from);
  const U8x64 row = looked_up(rows, low_nibbles(text));
  const std::uint64_t members = lanes_that_meet(row, looked_up(kBits, high_nibbles(text)));
  return count < kBlock ? members & ((std::uint64_t{1} << count) - 1) : members;
}
