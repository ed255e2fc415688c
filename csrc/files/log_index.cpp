#include "files/log_index.h"

#include <atomic>

namespace ebb {

namespace {

// The first region holds the header; SQLite maps all regions in this size.
constexpr int kRegionBytes = 32768;

// Words of the header.
constexpr std::size_t kVersionAt = 0;
constexpr std::size_t kFramesAt = 4;
constexpr std::uint32_t kVersion = 3007000;

using MapFunction = int (*)(DatabaseFile*, int, int, int, volatile void**);

}  // namespace

LogIndex::LogIndex(DatabaseFile& file) {
  if (file.methods == nullptr || file.methods->version < 2) return;
  const auto map = reinterpret_cast<MapFunction>(file.methods->functions[kSharedMemory]);
  volatile void* region = nullptr;
  if (map == nullptr || map(&file, 0, kRegionBytes, 0, &region) != kOk) return;
  header_ = static_cast<const volatile std::uint32_t*>(region);
}

bool LogIndex::read(Header& header) const {
  if (header_ == nullptr || forks() != forks_) return false;
  // Written the other way round: the second copy first.
  for (std::size_t i = 0; i < kWords; ++i) header[i] = header_[i];
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::size_t i = 0; i < kWords; ++i) {
    if (header_[kWords + i] != header[i]) return false;
  }
  return header[kVersionAt] == kVersion;
}

std::uint32_t LogIndex::frames() const {
  Header header;
  return read(header) ? header[kFramesAt] : 0;
}

}  // namespace ebb
