// Small sums of one block of rows: what postings add up to, and which rows reach a threshold.
// Exact family. Bound by the first-level cache, which holds the sums of a block.

// One amount for every row of a bitmap.
void add_where_i16(const std::uint64_t* bits, std::size_t words, std::int16_t amount,
                   std::int16_t* sums) {
  const I16x32 all = i16_broadcast(amount);
  for (std::size_t w = 0; w < words; ++w) {
    const auto low = static_cast<std::uint32_t>(bits[w]);
    const auto high = static_cast<std::uint32_t>(bits[w] >> 32);
    std::int16_t* const at = sums + 64 * w;
    store(at, add(load(at), where_bits(low, all)));
    store(at + 32, add(load(at + 32), where_bits(high, all)));
  }
}

// Few rows pass, so 32 are told apart by one branch.
std::size_t select_above_i16(const std::int16_t* sums, std::size_t count, std::int16_t limit,
                             std::uint16_t* out) {
  const I16x32 all = i16_broadcast(limit);
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; i += 32) {
    std::uint32_t bits = bits_above(load(sums + i), all);
    for (; bits != 0; bits &= bits - 1) {
      out[found++] = static_cast<std::uint16_t>(i + lowest_bit(bits));
    }
  }
  return found;
}

// A row that passes the first test alone mostly fails the second: both before any branch on a row.
std::size_t select_reaching_i16(const std::int16_t* sums, const std::uint16_t* values,
                                std::size_t count, std::int16_t limit, float least,
                                std::uint16_t* out) {
  const I16x32 all = i16_broadcast(limit);
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; i += 32) {
    const I16x32 some = load(sums + i);
    std::uint32_t bits = bits_above(some, all);
    if (bits == 0) continue;
    bits &= bits_of_large_squares(some, values + i, least);
    for (; bits != 0; bits &= bits - 1) {
      out[found++] = static_cast<std::uint16_t>(i + lowest_bit(bits));
    }
  }
  return found;
}
