// Storage for rows of numbers: aligned to 64 bytes, rounded up to whole cache lines, all zeros.
//
// The zeros come from the operating system, so pages of a large buffer take no memory until
// they are written. A buffer of at least one huge page is aligned to huge pages and asks for them.
// A buffer never moves its contents; moving the object hands them over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#include "core/huge_pages.h"

namespace ebb {

template <typename T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>, "all zero bits must be a value");

 public:
  static constexpr std::size_t kAlignment = 64;

  Buffer() = default;

  // Throws std::bad_alloc.
  explicit Buffer(std::size_t size) : size_(size) {
    if (size > (std::numeric_limits<std::size_t>::max() - 2 * kHugePageBytes) / sizeof(T)) {
      throw std::bad_alloc();
    }
    const std::size_t bytes = size * sizeof(T);
    const std::size_t alignment = bytes >= kHugePageBytes ? kHugePageBytes : kAlignment;
    const std::size_t lines = (bytes + kAlignment - 1) / kAlignment;
    memory_.reset(std::calloc(lines + alignment / kAlignment, kAlignment));
    if (memory_ == nullptr) throw std::bad_alloc();
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
    const std::size_t skip = (alignment - address % alignment) % alignment;
    data_ = reinterpret_cast<T*>(static_cast<char*>(memory_.get()) + skip);
    if (bytes >= kHugePageBytes) prefer_huge_pages(data_, bytes / kHugePageBytes * kHugePageBytes);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  struct Release {
    void operator()(void* memory) const { std::free(memory); }
  };

  std::unique_ptr<void, Release> memory_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace ebb
