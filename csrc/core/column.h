// A column of a result: numbers whose values are still to be written, all of them once. A vector
// would be filled with zeros first, which takes as long as the values.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace ebb {

template <typename T>
class Column {
  static_assert(std::is_trivial_v<T>, "left as the memory came");

 public:
  Column() = default;
  // Throws std::bad_alloc.
  explicit Column(std::size_t size) : values_(new T[size]), size_(size) {}

  std::size_t size() const { return size_; }
  T* data() { return values_.get(); }
  T& operator[](std::size_t i) { return values_[i]; }
  const T& operator[](std::size_t i) const { return values_[i]; }

 private:
  std::unique_ptr<T[]> values_;
  std::size_t size_ = 0;
};

}  // namespace ebb
