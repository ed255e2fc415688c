#include "core/small_counts.h"

#include <algorithm>

namespace ebb {

namespace {

// With fewer numbers than one for so many counts, each is added for itself.
constexpr std::size_t kCountsPerNumber = 4;

}  // namespace

void SmallCounts::grow(std::size_t size) {
  if (size > small_.capacity()) {
    small_.reserve(std::max(size, small_.size() + small_.size() / 4));
  }
  small_.resize(size);
}

void SmallCounts::set(std::size_t number, std::uint32_t count) {
  if (small_[number] == kLarge) {
    large_[places_.find(number)] = count;
  } else if (count < kLarge) {
    small_[number] = static_cast<std::uint8_t>(count);
  } else {
    // A place that was given out before room ran short waits for its count.
    const std::size_t place = places_.insert(number);
    if (place >= large_.size()) large_.resize(place + 1);
    large_[place] = count;
    small_[number] = kLarge;
  }
}

void SmallCounts::add(Span<const std::uint32_t> numbers) {
  if (numbers.size < size() / kCountsPerNumber) {
    add_one_by_one(numbers);
  } else {
    add_summed_up(numbers);
  }
}

void SmallCounts::add_one_by_one(Span<const std::uint32_t> numbers) {
  std::size_t done = 0;
  try {
    for (; done < numbers.size; ++done) add_one(numbers[done]);
  } catch (...) {
    while (done > 0) subtract(numbers[--done], 1);
    throw;
  }
}

void SmallCounts::add_summed_up(Span<const std::uint32_t> numbers) {
  std::vector<std::uint32_t> more(size());
  for (const std::uint32_t number : numbers) ++more[number];
  std::size_t done = 0;
  try {
    for (; done < more.size(); ++done) {
      if (more[done] > 0) set(done, (*this)[done] + more[done]);
    }
  } catch (...) {
    while (done-- > 0) subtract(done, more[done]);
    throw;
  }
}

}  // namespace ebb
