// The rows of a block that can reach a floor, found with the kernel's float32 arithmetic.
//
// A score is at most line.mul * dot + line.add for some line. The kernel wants the size of mul and
// puts its sign into the code's scale; what rounding the line to float32 may lose is added to the
// offset: 2^-21 of both, and what double lost where a score was computed. So a row that reaches
// the floor is always found, and what is found may still be short of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/bits.h"
#include "core/codes.h"
#include "core/dispatch.h"
#include "core/finite.h"
#include "core/kernel_table.h"
#include "core/scan_rows.h"
#include "core/scores.h"

namespace ebb {

template <typename Score>
class BlockReach {
 public:
  // `floor` is the least that will be asked for.
  BlockReach(const ScanRows<Score>& rows, const Block& block, double floor)
      : shift_(is_finite(block.bound) ? block.bound : 0.0), count_(block.count) {
    const RowChunks::Bounds bounds = rows.view.bounds(block.first);
    terms_ = {bounds.scale, bounds.error, bounds.norm, nullptr, nullptr};
    if (!rows.score.flat()) weigh(rows.score, block.first, floor);
  }

  // Calls visit(i) for each row i of the block that may reach `floor`, given its integer dots.
  template <typename Visit>
  void visit(const CodedQuery& query, const std::int32_t* dots, double floor,
             const Visit& visit) const {
    const CodeBound& bound = query.bound();
    std::uint16_t bits[kBlockRows / 16] = {};
    active().reach(dots, terms_, {bound.scale, bound.error, bound.norm, lowered(floor)}, count_,
                   bits);
    // Mostly none is set: four groups at a time.
    for (std::size_t group = 0; group * 16 < count_; group += 4) {
      std::uint64_t left = 0;
      for (std::size_t i = 0; i < 4; ++i) left |= std::uint64_t{bits[group + i]} << 16 * i;
      for (; left != 0; left &= left - 1) visit(group * 16 + lowest_bit(left));
    }
  }

 private:
  static constexpr double kSinglePart = 0x1p-21;
  static constexpr double kDoublePart = 0x1p-50;
  static constexpr double kTiny = 0x1p-90;
  static constexpr double kHuge = 0x1p120;

  static double size(double x) { return std::min(std::fabs(x), 0x1p1000); }

  float lowered(double floor) const {
    const double apart = floor - shift_;
    return static_cast<float>(apart - kSinglePart * size(apart) -
                              kDoublePart * (size(floor) + size(shift_)) - kTiny);
  }

  void weigh(const Score& score, std::size_t first, double floor) {
    const auto lines = score.lines(floor - shift_);
    for (std::size_t i = 0; i < count_; ++i) {
      const Line line = lines(first + i);
      const double weight = std::fabs(line.mul);
      const double apart = line.add - shift_;
      const double lost = kSinglePart * (weight + size(apart)) +
                          kDoublePart * (weight + size(line.add) + size(shift_));
      const bool fits = weight < kHuge;
      weight_[i] = fits ? static_cast<float>(weight) : 0.0f;
      offset_[i] = fits ? static_cast<float>(apart + lost) : std::numeric_limits<float>::infinity();
      scale_[i] = line.mul < 0.0 ? -terms_.scale[i] : terms_.scale[i];
    }
    terms_ = {scale_, terms_.error, terms_.norm, weight_, offset_};
  }

  const double shift_;
  const std::size_t count_;
  ReachRows terms_;
  float scale_[kBlockRows];
  float weight_[kBlockRows];
  float offset_[kBlockRows];
};

}  // namespace ebb
