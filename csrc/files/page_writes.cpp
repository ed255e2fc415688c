#include "files/page_writes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>

#include "core/page_room.h"
#include "core/span.h"

namespace ebb {

namespace {

// Overflow and freelist pages begin with the number of another page, as four bytes, highest first.
// In files of up to so many pages that byte is below every kind of b-tree page.
constexpr std::int64_t kMostPages = std::int64_t{1} << 24;
// Where the first page says, as four bytes, whether there are pages of pointers back: these begin
// with kinds of their own, two of which are those of b-tree pages. Without them it is zero.
constexpr std::int64_t kPointersBack = 52;

using ReadFunction = int (*)(DatabaseFile*, void*, int, std::int64_t);
using WriteFunction = int (*)(DatabaseFile*, const void*, int, std::int64_t);
using FileSizeFunction = int (*)(DatabaseFile*, std::int64_t*);

// A table whose `write` is ours, and the one it stands for.
struct Replaced {
  FileMethods methods;  // first: a file's pointer to it leads here
  const FileMethods* original;
};

// Whether a page that looks like one of a b-tree can be nothing else in this file.
bool tells_by_looks(DatabaseFile* file, const FileMethods& original, std::size_t page_size) {
  const auto read = reinterpret_cast<ReadFunction>(original.functions[kRead]);
  const auto file_size = reinterpret_cast<FileSizeFunction>(original.functions[kFileSize]);
  std::int64_t length = 0;
  std::array<unsigned char, 4> pointers_back{};
  constexpr std::array<unsigned char, 4> kNone{};
  return file_size(file, &length) == kOk &&
         length <= kMostPages * static_cast<std::int64_t>(page_size) &&
         read(file, pointers_back.data(), static_cast<int>(pointers_back.size()), kPointersBack) ==
             kOk &&
         pointers_back == kNone;
}

int write_page(DatabaseFile* file, const void* bytes, int size, std::int64_t offset) {
  const auto* replaced = reinterpret_cast<const Replaced*>(file->methods);
  const FileMethods& original = *replaced->original;
  const auto write = reinterpret_cast<WriteFunction>(original.functions[kWrite]);
  const Span<const unsigned char> page{static_cast<const unsigned char*>(bytes),
                                       static_cast<std::size_t>(size)};
  const PageRoom room = unallocated_room(page, offset);
  if (room.begin == room.end || !tells_by_looks(file, original, page.size)) {
    return write(file, bytes, size, offset);
  }
  std::array<unsigned char, kLargestPage> clean;
  std::memcpy(clean.data(), page.data, page.size);
  std::fill(clean.begin() + static_cast<std::ptrdiff_t>(room.begin),
            clean.begin() + static_cast<std::ptrdiff_t>(room.end), static_cast<unsigned char>(0));
  return write(file, clean.data(), size, offset);
}

// Returns the table for files that have the given one.
const FileMethods& replaced(const FileMethods& original) {
  static std::mutex lock;
  // Never destroyed: while the process ends, threads may still write and files be open.
  static std::list<Replaced>& tables = *std::make_unique<std::list<Replaced>>().release();
  const std::lock_guard<std::mutex> held(lock);
  for (const Replaced& one : tables) {
    if (one.original == &original) return one.methods;
  }
  Replaced made{methods_like(original), &original};
  made.methods.functions[kWrite] = reinterpret_cast<AnyFunction>(&write_page);
  tables.push_back(made);
  return tables.back().methods;
}

}  // namespace

bool write_without_leftovers(DatabaseFile& file) {
  if (file.methods == nullptr || file.methods->version < 1) return false;
  if (file.methods->functions[kWrite] != reinterpret_cast<AnyFunction>(&write_page)) {
    file.methods = &replaced(*file.methods);
  }
  return true;
}

}  // namespace ebb
