// The heap of the process: pages that were freed go back to the system.
#pragma once

namespace ebb {

// Give free pages in the middle of the heap back to the system. glibc keeps them, in an arena per
// thread, until the top of one is free: what a thread let go another cannot use. Elsewhere nothing
// happens. Any thread may call it; it takes about a millisecond for 100 MB.
void give_back_free_pages() noexcept;

}  // namespace ebb
