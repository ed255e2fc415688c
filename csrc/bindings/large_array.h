// New arrays for results of any size.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "bindings/numpy_views.h"
#include "core/spare_block.h"

namespace ebb::bindings {

// Above this, C libraries ask the system for fresh pages, and give them back when an array dies.
constexpr std::size_t kLargeBytes = std::size_t{1} << 17;

// Never destroyed: an array may outlive everything else.
inline SpareBlock& spare_block() {
  static SpareBlock& spare = *std::make_unique<SpareBlock>().release();
  return spare;
}

// A new C-contiguous array whose values are still to be written. The memory of a large one serves
// the next after it.
template <typename T>
NewArray<T> new_rows(std::size_t rows, std::size_t columns) {
  const std::size_t bytes = rows * columns * sizeof(T);
  if (bytes < kLargeBytes) return NewArray<T>(rows, columns);
  std::unique_ptr<SpareBlock::Block> block = spare_block().take(bytes);
  auto* const values = reinterpret_cast<T*>(block->data());
  const py::capsule owner(block.get(), [](void* p) {
    spare_block().give(std::unique_ptr<SpareBlock::Block>(static_cast<SpareBlock::Block*>(p)));
  });
  (void)block.release();
  return {py::array_t<T>({rows, columns}, values, owner), values};
}

}  // namespace ebb::bindings
