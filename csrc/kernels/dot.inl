// dot_rows_f32: one query against consecutive rows. Bit-equal family.
// Bound by memory: one row at a time, because the hardware prefetcher follows one stream best.

void dot_rows_f32(const float* query, const float* rows, std::size_t stride, std::size_t count,
                  std::size_t padded_dim, float* out) {
  for (std::size_t i = 0; i < count; ++i) {
    const float* row = rows + i * stride;
    F32x16 sum = zero();
    for (std::size_t d = 0; d < padded_dim; d += 16) {
      sum = add(sum, mul(load(query + d), load(row + d)));
    }
    out[i] = reduce_add(sum);
  }
}
