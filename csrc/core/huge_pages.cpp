#include "core/huge_pages.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ebb {

void prefer_huge_pages(void* memory, std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  (void)madvise(memory, bytes, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)bytes;
#endif
}

}  // namespace ebb
