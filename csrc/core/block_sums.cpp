#include "core/block_sums.h"

#include <algorithm>

#include "core/dispatch.h"

namespace ebb {

BlockSums::BlockSums() : kernels_(active()) {}

void BlockSums::clear(std::size_t rows) {
  padded_rows_ = (rows + 63) / 64 * 64;
  if (padded_rows_ > sums_.size()) {
    // Only what is needed: of a small scope the zeros would take longer than the sums.
    chosen_ = Buffer<std::uint16_t>(padded_rows_);
    sums_ = Buffer<std::int16_t>(padded_rows_);
    return;
  }
  std::fill_n(sums_.data(), padded_rows_, std::int16_t{0});
}

void BlockSums::add_coded(const KeyRows& key, const std::array<std::int16_t, 8>& coded) {
  std::int16_t* const sums = sums_.data();
  if (!key.once.empty()) kernels_.add_where_i16(key.once.data, key.once.size, coded[0], sums);
  for (const std::uint16_t p : key.postings) {
    std::int16_t& sum = sums[posting::row(p)];
    sum = static_cast<std::int16_t>(sum + coded[posting::code(p)]);
  }
}

Span<const std::uint16_t> BlockSums::at_least(std::int16_t least) {
  const auto above = static_cast<std::int16_t>(least - 1);
  const std::size_t count =
      kernels_.select_above_i16(sums_.data(), padded_rows_, above, chosen_.data());
  return {chosen_.data(), count};
}

Span<const std::uint16_t> BlockSums::reaching(const SparseBlock& block, std::size_t begin,
                                              std::size_t end, std::int16_t least, double square) {
  // Wider than the rounding of the square and of both products.
  const auto slackened = static_cast<float>(square * (1.0 - 1e-5));
  const std::size_t count = kernels_.select_reaching_i16(
      sums_.data() + begin, block.small_values() + begin, (end - begin + 31) / 32 * 32,
      static_cast<std::int16_t>(least - 1), slackened, chosen_.data());
  return {chosen_.data(), count};
}

}  // namespace ebb
