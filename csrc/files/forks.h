// Forks of this process, which lose the locks its files are used with.
#pragma once

#include <cstdint>

namespace ebb {

// Another number in every forked child than in its parent, whoever forked it by way of the C
// library; no system call. Always the same where there are no forks. Safe to call from threads.
std::uint64_t forks();

}  // namespace ebb
