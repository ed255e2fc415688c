// A float32 dot of unit vectors as a cosine.
#pragma once

namespace ebb {

// In [-1, 1]: sums of rounded products overshoot. NaN counts as -1.
inline float clamped(float dot) { return dot > 1.0f ? 1.0f : dot >= -1.0f ? dot : -1.0f; }

}  // namespace ebb
