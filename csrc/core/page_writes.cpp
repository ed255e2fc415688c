#include "core/page_writes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <list>
#include <mutex>

namespace ebb {

namespace {

constexpr std::size_t kSmallestPage = 512;
constexpr std::size_t kLargestPage = 65536;
constexpr std::size_t kFirstHeader = 100;  // the header of the file stands before the first page's
constexpr std::int64_t kGiB = std::int64_t{1} << 30;
// Overflow and freelist pages begin with the number of another page, as four bytes, highest first.
// In files up to here (and pages of 4 KiB) that byte is below every kind of b-tree page.
constexpr std::int64_t kLongestFile = 64 * kGiB;
constexpr std::size_t kWrite = 2;
constexpr std::size_t kFileSize = 5;
constexpr int kOk = 0;

using WriteFunction = int (*)(DatabaseFile*, const void*, int, std::int64_t);
using FileSizeFunction = int (*)(DatabaseFile*, std::int64_t*);

// A table whose `write` is ours, and the one it stands for.
struct Replaced {
  FileMethods methods;  // first: a file's pointer to it leads here
  const FileMethods* original;
};

std::size_t number(const unsigned char* bytes) {
  return static_cast<std::size_t>(bytes[0]) << 8 | bytes[1];
}

bool is_page_size(std::size_t size) {
  return size >= kSmallestPage && size <= kLargestPage && (size & (size - 1)) == 0;
}

int write_page(DatabaseFile* file, const void* bytes, int size, std::int64_t offset) {
  const auto* replaced = reinterpret_cast<const Replaced*>(file->methods);
  const FileMethods& original = *replaced->original;
  const auto write = reinterpret_cast<WriteFunction>(original.functions[kWrite]);
  const auto file_size = reinterpret_cast<FileSizeFunction>(original.functions[kFileSize]);
  const Span<const unsigned char> page{static_cast<const unsigned char*>(bytes),
                                       static_cast<std::size_t>(size)};
  const Room room = unallocated_room(page, offset);
  std::int64_t length = 0;
  if (room.begin == room.end || file_size(file, &length) != kOk || length > kLongestFile) {
    return write(file, bytes, size, offset);
  }
  std::array<unsigned char, kLargestPage> clean;
  std::memcpy(clean.data(), page.data, page.size);
  std::fill(clean.begin() + static_cast<std::ptrdiff_t>(room.begin),
            clean.begin() + static_cast<std::ptrdiff_t>(room.end), static_cast<unsigned char>(0));
  return write(file, clean.data(), size, offset);
}

// Returns the table for files that have the given one; it lives as long as the process, as they
// may.
const FileMethods& replaced(const FileMethods& original) {
  static std::mutex lock;
  static std::list<Replaced> tables;
  const std::lock_guard<std::mutex> held(lock);
  for (const Replaced& one : tables) {
    if (one.original == &original) return one.methods;
  }
  constexpr std::array<std::size_t, 3> kFunctions{12, 16, 18};  // of versions 1 to 3
  const int version = std::min(original.version, static_cast<int>(kFunctions.size()));
  Replaced made{};
  made.methods.version = version;
  std::copy_n(original.functions, kFunctions[static_cast<std::size_t>(version) - 1],
              made.methods.functions);
  made.methods.functions[kWrite] = reinterpret_cast<AnyFunction>(&write_page);
  made.original = &original;
  tables.push_back(made);
  return tables.back().methods;
}

}  // namespace

Room unallocated_room(Span<const unsigned char> page, std::int64_t offset) {
  constexpr Room kNone{0, 0};
  if (!is_page_size(page.size) || offset % static_cast<std::int64_t>(page.size) != 0) return kNone;
  const std::size_t header = offset == 0 ? kFirstHeader : 0;
  const unsigned char* at = page.data + header;
  const unsigned char kind = at[0];
  const bool leaf = kind == 10 || kind == 13;
  if (!leaf && kind != 2 && kind != 5) return kNone;
  const std::size_t begin = header + (leaf ? 8 : 12) + 2 * number(at + 3);
  const std::size_t cells = number(at + 5);
  const std::size_t end = cells == 0 ? kLargestPage : cells;
  return begin < end && end <= page.size ? Room{begin, end} : kNone;
}

bool write_without_leftovers(DatabaseFile& file) {
  if (file.methods == nullptr || file.methods->version < 1) return false;
  if (file.methods->functions[kWrite] != reinterpret_cast<AnyFunction>(&write_page)) {
    file.methods = &replaced(*file.methods);
  }
  return true;
}

}  // namespace ebb
