// row_extent_f32, quantise_row_i8: a row as codes of 8 bits. Bit-equal family. Bound by arithmetic:
// about 12 operations for 8 values.
// dot_codes_i8, dot_codes_at_i8: integer dots. Exact family. Bound by memory beyond the second
// cache. Four rows at a time share the query's loads, which the hardware's prefetcher takes for
// four streams and follows badly: their lines are asked for far ahead (1.3 times faster than
// without, and than row by row; nothing of the kind helps dot_rows, which reads row by row).

inline F32x16 magnitudes(const F32x16& x) { return max(x, sub(zero(), x)); }

RowExtent row_extent_f32(const float* row, std::size_t padded_dim) {
  constexpr float kLeast = 0x1p-149f;
  constexpr float kMost = 0x1.fffffep127f;
  F32x16 largest = zero();
  F32x16 smallest = broadcast(kMost);
  F32x16 squares = zero();
  for (std::size_t d = 0; d < padded_dim; d += 16) {
    const F32x16 x = load(row + d);
    const F32x16 size = magnitudes(x);
    const F32x16 most_if_zero =
        sub(broadcast(kMost), zero_unless_at_least(size, broadcast(kLeast), broadcast(kMost)));
    largest = max(size, largest);
    smallest = min(max(size, most_if_zero), smallest);
    squares = add(squares, mul(x, x));
  }
  float high[16];
  float low[16];
  store(high, largest);
  store(low, smallest);
  RowExtent extent = {high[0], low[0], reduce_add(squares)};
  for (int l = 1; l < 16; ++l) {
    extent.largest = high[l] > extent.largest ? high[l] : extent.largest;
    extent.smallest = low[l] < extent.smallest ? low[l] : extent.smallest;
  }
  return extent;
}

float quantise_row_i8(const float* row, std::size_t padded_dim, float inverse, float scale,
                      std::int8_t* codes) {
  F32x16 squares = zero();
  for (std::size_t d = 0; d < padded_dim; d += 16) {
    const F32x16 x = load(row + d);
    const F32x16 code = round_even(mul(x, broadcast(inverse)));
    const F32x16 missed = sub(x, mul(broadcast(scale), code));
    squares = add(squares, mul(missed, missed));
    store_codes(codes + d, code);
  }
  return reduce_add(squares);
}

inline std::int32_t dot_code_row(const std::int8_t* query, const std::int8_t* row,
                                 std::size_t code_dim) {
  CodeSums sums = no_sums();
  for (std::size_t d = 0; d < code_dim; d += 32) {
    sums = add_products(sums, load_codes(query + d), load_codes(row + d));
  }
  return reduce_add(sums);
}

void dot_codes_i8(const std::int8_t* query, const std::int8_t* rows, std::size_t stride,
                  std::size_t count, std::size_t code_dim, std::int32_t* out) {
  constexpr std::size_t kAheadBytes = 8192;
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const std::int8_t* const row = rows + i * stride;
    for (std::size_t d = 0; d < 4 * stride; d += 64) prefetch(row, kAheadBytes + d);
    CodeSums a = no_sums();
    CodeSums b = no_sums();
    CodeSums c = no_sums();
    CodeSums e = no_sums();
    for (std::size_t d = 0; d < code_dim; d += 32) {
      const Codes32 q = load_codes(query + d);
      a = add_products(a, q, load_codes(row + d));
      b = add_products(b, q, load_codes(row + stride + d));
      c = add_products(c, q, load_codes(row + 2 * stride + d));
      e = add_products(e, q, load_codes(row + 3 * stride + d));
    }
    store_sums(out + i, a, b, c, e);
  }
  for (; i < count; ++i) out[i] = dot_code_row(query, rows + i * stride, code_dim);
}

void dot_codes_at_i8(const std::int8_t* query, const std::int8_t* const* rows, std::size_t count,
                     std::size_t code_dim, std::int32_t* out) {
  constexpr std::size_t kAhead = 4;
  constexpr std::size_t kMostBytes = 1024;  // the hardware follows a longer row by itself
  const std::size_t bytes = code_dim < kMostBytes ? code_dim : kMostBytes;
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) {
      for (std::size_t d = 0; d < bytes; d += 64) prefetch(rows[i + kAhead], d);
    }
    out[i] = dot_code_row(query, rows[i], code_dim);
  }
}
