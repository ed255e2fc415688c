#include "files/forks.h"

#include <atomic>

#if __has_include(<pthread.h>)
#include <pthread.h>
#endif

namespace ebb {

namespace {

std::atomic<std::uint64_t> count{0};

#if __has_include(<pthread.h>)
void count_fork() { count.fetch_add(1, std::memory_order_relaxed); }

// Should it be refused for want of memory, only Python's own hooks tell of a fork.
[[maybe_unused]] const int watched = pthread_atfork(nullptr, nullptr, count_fork);
#endif

}  // namespace

std::uint64_t forks() { return count.load(std::memory_order_relaxed); }

}  // namespace ebb
