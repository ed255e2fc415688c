// The head of SQLite's sqlite3_file, and of the table it points to (sqlite3_io_methods); SQLite
// never changes either, it only adds entries and raises `version`.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace ebb {

struct DatabaseFile;
using AnyFunction = void (*)();
struct FileMethods {
  int version;
  AnyFunction functions[18];  // those of version 3
};
struct DatabaseFile {
  const FileMethods* methods;
};

// Where functions stand in the table.
constexpr std::size_t kClose = 0;
constexpr std::size_t kRead = 1;
constexpr std::size_t kWrite = 2;
constexpr std::size_t kTruncate = 3;
constexpr std::size_t kSync = 4;
constexpr std::size_t kFileSize = 5;
constexpr std::size_t kSharedMemory = 12;  // since version 2

constexpr int kOk = 0;

// Returns a copy of a table of any version, of those entries that are known here.
inline FileMethods methods_like(const FileMethods& original) {
  constexpr std::array<std::size_t, 3> kFunctions{12, 16, 18};  // of versions 1 to 3
  FileMethods made{};
  made.version = std::min(original.version, static_cast<int>(kFunctions.size()));
  std::copy_n(original.functions, kFunctions[static_cast<std::size_t>(made.version) - 1],
              made.functions);
  return made;
}

}  // namespace ebb
