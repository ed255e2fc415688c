// F32x16 in plain C++: the spelling and the reduction tree that every instruction set repeats.
// Includes nothing, so that it can stand inside a target region.

struct F32x16 {
  float lane[16];
};

inline F32x16 zero() { return F32x16{}; }

inline F32x16 load(const float* p) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) v.lane[l] = p[l];
  return v;
}

inline void store(float* p, const F32x16& v) {
  for (int l = 0; l < 16; ++l) p[l] = v.lane[l];
}

inline F32x16 add(const F32x16& a, const F32x16& b) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) v.lane[l] = a.lane[l] + b.lane[l];
  return v;
}

inline F32x16 mul(const F32x16& a, const F32x16& b) {
  F32x16 v;
  for (int l = 0; l < 16; ++l) v.lane[l] = a.lane[l] * b.lane[l];
  return v;
}

// Fold the upper half of the lanes onto the lower half until one is left.
inline float reduce_add(const F32x16& a) {
  float x[16];
  for (int l = 0; l < 16; ++l) x[l] = a.lane[l];
  for (int half = 8; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) x[l] = x[l] + x[l + half];
  }
  return x[0];
}
