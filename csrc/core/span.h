// Non-owning views: the only currency between bindings, core and kernels.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ebb {

template <typename T>
struct Span {
  T* data = nullptr;
  std::size_t size = 0;

  T* begin() const { return data; }
  T* end() const { return data + size; }
  T& operator[](std::size_t i) const { return data[i]; }
  bool empty() const { return size == 0; }
};

// A truth value of somebody else's array: any byte but 0 is true. As a bool it must not be read,
// which is 0 or 1, while the bytes of such an array may be anything.
struct Truth {
  unsigned char byte;

  operator bool() const { return byte != 0; }
};

// One truth value per row. An absent view (data == nullptr) lets every row through.
struct RowMask {
  const Truth* data = nullptr;
  std::size_t size = 0;

  bool allows(std::size_t slot) const { return data == nullptr || data[slot]; }
};

}  // namespace ebb
