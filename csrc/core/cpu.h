// What this processor can run. Nothing else asks the CPU.
#pragma once

namespace ebb {

// Each set counts only where the operating system saves its registers.
struct CpuFeatures {
  bool avx2 = false;
  bool avxvnni = false;     // AVX2 and AVX-VNNI
  bool avx512 = false;      // F, BW, DQ and VL
  bool avx512vnni = false;  // these and AVX512-VNNI
};

CpuFeatures detect_cpu();

}  // namespace ebb
