// The AVX2 kernels, with bytes multiplied and summed by one instruction of AVX-VNNI.
#include "core/kernel_table.h"

#if defined(EBB_HAS_AVXVNNI_TABLE)
#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/target_region.h"

namespace ebb {
EBB_TARGET_BEGIN("avx2,avxvnni")
namespace avxvnni {
namespace {
#include "kernels/i16_avx2.h"
#include "kernels/u32_avx2.h"
#include "kernels/u8_avx2.h"
#include "kernels/vec_avx2.h"

#include "kernels/f64_avx2.h"

#include "kernels/i8_avx2.h"

#include "kernels/tile_x86.h"

#include "kernels/tile_avxvnni.h"

#include "kernels/tile_rows.inl"

#include "kernels/kernels.inl"
}  // namespace
}  // namespace avxvnni
EBB_TARGET_END

extern const KernelTable kAvxVnniTable;
const KernelTable kAvxVnniTable = avxvnni::table("avxvnni");

}  // namespace ebb
#endif
