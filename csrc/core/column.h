// A column of a result: numbers whose values are still to be written, all of them once. A vector
// would be filled with zeros first, which takes as long as the values.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

namespace ebb {

template <typename T>
class Column {
  static_assert(std::is_trivial_v<T>, "left as the memory came");

 public:
  Column() = default;
  // Throws std::bad_alloc.
  explicit Column(std::size_t size) : size_(size) {
    if (size == 0) return;
    if (size > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
    values_.reset(static_cast<T*>(std::malloc(size * sizeof(T))));
    if (values_ == nullptr) throw std::bad_alloc();
  }

  std::size_t size() const { return size_; }
  const T* begin() const { return values_.get(); }
  const T* end() const { return values_.get() + size_; }
  T* data() { return values_.get(); }
  T& operator[](std::size_t i) { return values_[i]; }
  const T& operator[](std::size_t i) const { return values_[i]; }

 private:
  struct Release {
    void operator()(T* values) const { std::free(values); }
  };

  std::unique_ptr<T[], Release> values_;
  std::size_t size_ = 0;
};

}  // namespace ebb
