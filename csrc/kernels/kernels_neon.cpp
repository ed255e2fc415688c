#if defined(__aarch64__) && (defined(__GNUC__) || defined(__clang__))
#include <arm_neon.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/kernel_table.h"

// No target region: every aarch64 processor has NEON.
namespace ebb {
namespace neon {
namespace {
// A family that has no NEON header yet takes its scalar one here.
#include "kernels/vec_neon.h"

#include "kernels/f64_neon.h"

#include "kernels/i8_neon.h"

#include "kernels/i16_neon.h"

#include "kernels/u32_neon.h"

#include "kernels/u8_neon.h"

#include "kernels/tile_neon.h"

#include "kernels/tile_rows.inl"

#include "kernels/kernels.inl"
}  // namespace
}  // namespace neon

extern const KernelTable kNeonTable;
const KernelTable kNeonTable = neon::table("neon");

}  // namespace ebb
#endif
