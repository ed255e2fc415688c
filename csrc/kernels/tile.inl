// dot_tile_i8: integer dots of 16 queries with each row. Exact family.
// Bound by multiplications: the sums of 4 rows by 16 queries stay in registers (an indexed array
// would go to memory), and every load of queries serves 4 rows. Rows further on are asked for,
// for the hardware takes four at a time for four streams and follows badly (1.15 times faster).
//
// A step multiplies kTileStep codes of a row; a turn of the loop does kTileCodes, which divides 32.

void dot_tile_of_four(const std::int8_t* panel, const std::int8_t* const* rows,
                      std::size_t code_dim, const TileSums& none, std::int32_t* out,
                      std::size_t out_stride) {
  TileSums a = none;
  TileSums b = none;
  TileSums c = none;
  TileSums e = none;
  const std::int8_t* const of_a = rows[0];
  const std::int8_t* const of_b = rows[1];
  const std::int8_t* const of_c = rows[2];
  const std::int8_t* const of_e = rows[3];
  for (std::size_t d = 0; d < code_dim; d += kTileCodes) {
    for (std::size_t step = d; step < d + kTileCodes; step += kTileStep) {
      const QueryCodes queries = load_queries(panel + step * 16);
      add_tile(a, repeat_codes(of_a + step), queries);
      add_tile(b, repeat_codes(of_b + step), queries);
      add_tile(c, repeat_codes(of_c + step), queries);
      add_tile(e, repeat_codes(of_e + step), queries);
    }
  }
  store_tile(out, out_stride, a, b, c, e);
}

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
    dot_tile_of_four(panel, four, code_dim, none, out + i, out_stride);
  }
}
