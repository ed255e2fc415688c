// dot_tile_i8: integer dots of 16 queries with each row. Exact family.
// Bound by multiplications: 4 rows by 16 queries stay in named registers (an indexed array would
// go to memory), and every load of queries serves 4 rows.

inline void tile_of_rows(const std::int8_t* panel, const std::int8_t* const* rows,
                         std::size_t code_dim, const TileSums& low, const TileSums& high,
                         std::int32_t* out, std::size_t out_stride) {
  TileSums a0 = low;
  TileSums a1 = high;
  TileSums b0 = low;
  TileSums b1 = high;
  TileSums c0 = low;
  TileSums c1 = high;
  TileSums e0 = low;
  TileSums e1 = high;
  const std::int8_t* const a = rows[0];
  const std::int8_t* const b = rows[1];
  const std::int8_t* const c = rows[2];
  const std::int8_t* const e = rows[3];
  for (std::size_t d = 0; d < code_dim; d += 8) {
    const QueryCodes p0 = load_queries(panel + d * 16);
    const QueryCodes p1 = load_queries(panel + d * 16 + 32);
    const QueryCodes q0 = load_queries(panel + d * 16 + 64);
    const QueryCodes q1 = load_queries(panel + d * 16 + 96);
    const FourCodes ax = repeat_four(a + d);
    const FourCodes ay = repeat_four(a + d + 4);
    a0 = add_tile(a0, ax, p0, ay, q0);
    a1 = add_tile(a1, ax, p1, ay, q1);
    const FourCodes bx = repeat_four(b + d);
    const FourCodes by = repeat_four(b + d + 4);
    b0 = add_tile(b0, bx, p0, by, q0);
    b1 = add_tile(b1, bx, p1, by, q1);
    const FourCodes cx = repeat_four(c + d);
    const FourCodes cy = repeat_four(c + d + 4);
    c0 = add_tile(c0, cx, p0, cy, q0);
    c1 = add_tile(c1, cx, p1, cy, q1);
    const FourCodes ex = repeat_four(e + d);
    const FourCodes ey = repeat_four(e + d + 4);
    e0 = add_tile(e0, ex, p0, ey, q0);
    e1 = add_tile(e1, ex, p1, ey, q1);
  }
  store_tile(out, out_stride, a0, b0, c0, e0);
  store_tile(out + 8 * out_stride, out_stride, a1, b1, c1, e1);
}

void dot_tile_i8(const std::int8_t* panel, const std::int8_t* rows, std::size_t stride,
                 std::size_t count, std::size_t code_dim, std::int32_t* out,
                 std::size_t out_stride) {
  const TileSums low = no_tile_sums(panel, code_dim);
  const TileSums high = no_tile_sums(panel + 32, code_dim);
  for (std::size_t i = 0; i < count; i += 4) {
    const std::int8_t* four[4];
    for (std::size_t r = 0; r < 4; ++r) {
      four[r] = rows + (i + r < count ? i + r : count - 1) * stride;
    }
    tile_of_rows(panel, four, code_dim, low, high, out + i, out_stride);
  }
}
