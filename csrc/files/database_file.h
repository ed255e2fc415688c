// The head of SQLite's sqlite3_file, and of the table it points to (sqlite3_io_methods); SQLite
// never changes either, it only adds entries and raises `version`.
#pragma once

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
constexpr std::size_t kRead = 1;
constexpr std::size_t kWrite = 2;
constexpr std::size_t kFileSize = 5;
constexpr std::size_t kSharedMemory = 12;  // since version 2

constexpr int kOk = 0;

}  // namespace ebb
