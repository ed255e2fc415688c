#include "core/heap.h"

#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace ebb {

void give_back_free_pages() noexcept {
#if defined(__GLIBC__)
  (void)malloc_trim(0);
#endif
}

}  // namespace ebb
