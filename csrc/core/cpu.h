// What this processor can run. Nothing else asks the CPU.
#pragma once

namespace ebb {

struct CpuFeatures {
  bool avx2 = false;  // AVX2, with the operating system saving ymm registers
};

CpuFeatures detect_cpu();

}  // namespace ebb
