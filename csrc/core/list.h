// A vector that can change its size without being written to: what lies beyond the end stays as
// it is, and elements that come back are those that were there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace ebb {

template <typename T>
class List {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return items_.data(); }
  T* end() { return items_.data() + size_; }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }
  T& operator[](std::size_t i) { return items_[i]; }
  const T& operator[](std::size_t i) const { return items_[i]; }
  std::size_t bytes() const { return items_.capacity() * sizeof(T); }

  // Returns the beginning. Throws std::bad_alloc.
  T* resize_for_overwrite(std::size_t size) {
    if (size > items_.size()) items_.resize(std::max(size, items_.size() + items_.size() / 2));
    size_ = size;
    return items_.data();
  }

  void cut(const T* end) { size_ = static_cast<std::size_t>(end - items_.data()); }

  void swap(List& other) {
    items_.swap(other.items_);
    std::swap(size_, other.size_);
  }

 private:
  std::vector<T> items_;
  std::size_t size_ = 0;
};

}  // namespace ebb
