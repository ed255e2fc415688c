#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/kernel_table.h"

namespace ebb {
namespace scalar {
namespace {
#include "kernels/i16_scalar.h"
#include "kernels/u32_scalar.h"
#include "kernels/u8_scalar.h"
#include "kernels/vec_scalar.h"

#include "core/f64_one_lane.inl"

#include "kernels/i8_scalar.h"

#include "kernels/tile_scalar.h"

#include "kernels/tile_rows.inl"

#include "kernels/kernels.inl"
}  // namespace
}  // namespace scalar

extern const KernelTable kScalarTable;
const KernelTable kScalarTable = scalar::table("scalar");

}  // namespace ebb
