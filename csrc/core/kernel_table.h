// The contract between core and kernels: one table of functions per instruction set.
//
// Every function gives the same bits on every table: 16 float lanes, one reduction tree
// (lane l + lane l+8, then +4, +2, +1), no fused multiply-add.
#pragma once

#include <cstddef>

namespace ebb {

constexpr std::size_t kLanes = 16;

struct KernelTable {
  const char* name;

  // out[i] = dot(query, rows + i * stride) for i < count, over `padded_dim` floats.
  // `padded_dim` is a multiple of kLanes; padding holds zeros. No alignment needed.
  // Bit-equal family.
  void (*dot_rows)(const float* query, const float* rows, std::size_t stride, std::size_t count,
                   std::size_t padded_dim, float* out);

  // out[i] = exp(x[i]) for x in [-87, 0], at most 1 ulp from the true value; below -87 the
  // result is 0, above 0 it is that of 0. `out` may be `x`. Bit-equal family.
  void (*exp_f32)(const float* x, std::size_t count, float* out);
};

}  // namespace ebb
