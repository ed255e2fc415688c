// The AVX-512 kernels, with bytes multiplied and summed by one instruction of AVX512-VNNI.
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
// GCC's own header starts from a vector that is left undefined on purpose, and warns of it.
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/kernel_table.h"
#include "kernels/target_region.h"

namespace ebb {
EBB_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")
namespace avx512vnni {
namespace {
// A family of integer kernels may take its AVX2 header here: the region runs AVX2 as well.
#include "kernels/vec_avx512.h"

#include "kernels/f64_avx512.h"

#include "kernels/i8_avx512.h"

#include "kernels/i16_avx512.h"

#include "kernels/u32_avx512.h"

#include "kernels/u8_avx512.h"

#include "kernels/tile_x86.h"

#include "kernels/tile_avx512vnni.h"

#include "kernels/tile_rows.inl"

#include "kernels/kernels.inl"
}  // namespace
}  // namespace avx512vnni
EBB_TARGET_END

extern const KernelTable kAvx512VnniTable;
const KernelTable kAvx512VnniTable = avx512vnni::table("avx512vnni");

}  // namespace ebb
#endif
