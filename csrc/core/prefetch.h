// Asking for a cache line ahead of its use: worth it where addresses are scattered but known early.
#pragma once

namespace ebb {

inline void prefetch(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  static_cast<void>(address);
#endif
}

}  // namespace ebb
