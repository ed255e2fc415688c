#include "core/cpu.h"

namespace ebb {

CpuFeatures detect_cpu() {
  CpuFeatures features;
#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__))
  // The builtin checks cpuid and, for ymm and zmm registers, xgetbv.
  __builtin_cpu_init();
  features.avx2 = __builtin_cpu_supports("avx2") != 0;
  features.avx512 =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
#endif
  return features;
}

}  // namespace ebb
