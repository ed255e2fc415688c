// What this processor can run. Nothing else asks the CPU.
#pragma once

namespace ebb {

// Each set counts only where the operating system saves its registers.
struct CpuFeatures {
  bool avx2 = false;
  bool avx512 = false;  // F, BW, DQ and VL
};

CpuFeatures detect_cpu();

}  // namespace ebb
