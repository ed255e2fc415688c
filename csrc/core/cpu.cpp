#include "core/cpu.h"

#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__))
#define EBB_ON_X86 1
#include <cpuid.h>
#endif

namespace ebb {

#ifdef EBB_ON_X86
namespace {

// Asked by hand: not every compiler's builtin knows the name.
bool has_avxvnni_bit() {
  constexpr unsigned kBit = 1u << 4;
  unsigned last = 0;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid_count(7, 0, &last, &ebx, &ecx, &edx) == 0 || last < 1) return false;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & kBit) != 0;
}

}  // namespace
#endif

CpuFeatures detect_cpu() {
  CpuFeatures features;
#ifdef EBB_ON_X86
  // The builtin checks cpuid and, for ymm and zmm registers, xgetbv.
  __builtin_cpu_init();
  features.avx2 = __builtin_cpu_supports("avx2") != 0;
  features.avxvnni = features.avx2 && has_avxvnni_bit();
  features.avx512 =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  features.avx512vnni = features.avx512 && __builtin_cpu_supports("avx512vnni") != 0;
#endif
  return features;
}

}  // namespace ebb
