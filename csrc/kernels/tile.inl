// dot_tile_i8: integer dots of 16 queries with each row. Exact family.
// Bound by multiplications. Rows further on are asked for, for the hardware takes four at a time
// for four streams and follows badly (1.15 times faster).

void dot_tile_i8(const std::int8_t* panel, const std::int8_t* rows, std::size_t stride,
                 std::size_t count, std::size_t code_dim, std::int32_t* out,
                 std::size_t out_stride) {
  constexpr std::size_t kAheadBytes = 8192;
  const TileSums none = no_tile_sums(panel, code_dim);
  for (std::size_t i = 0; i < count; i += 4) {
    for (std::size_t d = 0; d < 4 * stride; d += 64) prefetch(rows + i * stride, kAheadBytes + d);
    const std::int8_t* four[4];
    for (std::size_t r = 0; r < 4; ++r) {
      four[r] = rows + (i + r < count ? i + r : count - 1) * stride;
    }
    TileSums sums[4] = {none, none, none, none};
    add_rows(panel, four, code_dim, sums);
    store_tile(out + i, out_stride, sums[0], sums[1], sums[2], sums[3]);
  }
}
