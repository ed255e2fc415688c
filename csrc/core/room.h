// Growth of vectors that are appended to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ebb {

// Room for `size` values in all, doubling so that repeated appends stay linear. Throws
// std::bad_alloc.
template <typename T>
void make_room(std::vector<T>& values, std::size_t size) {
  if (size > values.capacity()) values.reserve(std::max(size, 2 * values.capacity()));
}

}  // namespace ebb
