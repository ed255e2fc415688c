// The newest commit in a write-ahead log, told without a lock and without a system call.
//
// All connections of a file share the memory of the log's index. Its header, of 48 bytes and there
// twice, changes with every commit, for it counts them and has the checksum of the log's end
// ("WAL-mode File Format" of SQLite's documentation, 2.1). SQLite itself takes a database for
// unchanged, and keeps the pages it has read, as long as these bytes are the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "files/database_file.h"
#include "files/forks.h"

namespace ebb {

class LogIndex {
 public:
  static constexpr std::size_t kWords = 12;
  using Header = std::array<std::uint32_t, kWords>;

  // The file has read from its log already, and both stay open as long as this is used. Without
  // shared memory, or should SQLite refuse it, `read` tells nothing.
  explicit LogIndex(DatabaseFile& file);

  // Writes the header, and returns true; false where it is just being written, or is not of the
  // version that is known here, and in a forked child, to which the log's locks do not belong.
  // Whoever reads the same twice knows of no commit that ended between the beginnings of both. Safe
  // to call from threads.
  bool read(Header& header) const;

  // Returns how many frames the log has, those that were moved into the database among them; 0
  // where `read` tells nothing. Safe to call from threads.
  std::uint32_t frames() const;

 private:
  const volatile std::uint32_t* header_ = nullptr;
  std::uint64_t forks_ = forks();
};

}  // namespace ebb
