// add_rows for instruction sets whose registers hold the sums of four rows: every load of queries
// serves all four. A step multiplies kTileStep codes of a row; a turn of the loop does kTileCodes,
// which divides 32.

inline void add_rows(const std::int8_t* panel, const std::int8_t* const* rows, std::size_t code_dim,
                     TileSums* sums) {
  // An indexed array would go to memory.
  TileSums a = sums[0];
  TileSums b = sums[1];
  TileSums c = sums[2];
  TileSums e = sums[3];
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
  sums[0] = a;
  sums[1] = b;
  sums[2] = c;
  sums[3] = e;
}
