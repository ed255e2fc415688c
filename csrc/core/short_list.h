// A list that takes no memory but its own until it is long: for what lives as long as one short
// call, where asking for memory would cost as much as the work.
//
// The first N elements stand in the list itself and are not set to anything. Not synchronised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace ebb {

template <typename T, std::size_t N>
class ShortList {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  // Written out, or the first elements would be set.
  ShortList() {}  // NOLINT(modernize-use-equals-default)
  ShortList(const ShortList&) = delete;
  ShortList& operator=(const ShortList&) = delete;

  std::size_t size() const { return size_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }

  // Returns the beginning. The elements up to the old size stay as they are. Throws
  // std::bad_alloc, and is then as it was.
  T* resize_for_overwrite(std::size_t size) {
    if (size > room_) grow(size);
    size_ = size;
    return items_;
  }

  void push_back(const T& value) {
    const T copy = value;
    const std::size_t last = size_;
    resize_for_overwrite(last + 1)[last] = copy;
  }

  // Forget what is at `end` and after it; keep the memory.
  void cut(const T* end) { size_ = static_cast<std::size_t>(end - items_); }

  void clear() { size_ = 0; }

 private:
  void grow(std::size_t size) {
    const std::size_t room = std::max(size, 2 * room_);
    std::unique_ptr<T[]> many = std::make_unique<T[]>(room);
    std::copy_n(items_, size_, many.get());
    many_ = std::move(many);
    items_ = many_.get();
    room_ = room;
  }

  union {
    T few_[N];
  };
  std::unique_ptr<T[]> many_;
  T* items_ = few_;
  std::size_t room_ = N;
  std::size_t size_ = 0;
};

}  // namespace ebb
