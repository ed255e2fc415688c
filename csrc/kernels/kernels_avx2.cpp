#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/kernel_table.h"
#include "kernels/target_region.h"

namespace ebb {
EBB_TARGET_BEGIN("avx2")
namespace avx2 {
namespace {
#include "kernels/i16_avx2.h"
#include "kernels/u32_avx2.h"
#include "kernels/u8_avx2.h"
#include "kernels/vec_avx2.h"

#include "kernels/f64_avx2.h"

#include "kernels/i8_avx2.h"

#include "kernels/tile_x86.h"

#include "kernels/tile_avx2.h"

#include "kernels/kernels.inl"
}  // namespace
}  // namespace avx2
EBB_TARGET_END

extern const KernelTable kAvx2Table;
const KernelTable kAvx2Table = avx2::table("avx2");

}  // namespace ebb
#endif
