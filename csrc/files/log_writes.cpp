#include "files/log_writes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "core/page_room.h"

namespace ebb {

namespace {

// "WAL-mode File Format" of SQLite's documentation: the log's header, then frames; in the header of
// one that commits, the bytes from 4 are the size of the database, and zero in every other.
constexpr std::int64_t kLogHeader = 32;
constexpr std::size_t kFrameHeader = 24;
constexpr std::size_t kCommitAt = 4;
// SQLite's own writes take no more at once: what is beyond that would be cut off in silence.
constexpr std::size_t kMostBytes = (std::size_t{1} << 17) - 1;

using CloseFunction = int (*)(DatabaseFile*);
using ReadFunction = int (*)(DatabaseFile*, void*, int, std::int64_t);
using WriteFunction = int (*)(DatabaseFile*, const void*, int, std::int64_t);
using TruncateFunction = int (*)(DatabaseFile*, std::int64_t);
using SyncFunction = int (*)(DatabaseFile*, int);
using FileSizeFunction = int (*)(DatabaseFile*, std::int64_t*);

// Frames of one log that wait: headers and pages as they follow each other in the file.
struct Waiting {
  const FileMethods* original;
  std::size_t page_size;
  std::unique_ptr<unsigned char[]> bytes;
  std::size_t size = 0;
  std::int64_t begin = 0;
  bool commits = false;  // the newest frame
  bool may_wait = false;
  std::int64_t looked_at = -1;  // where a whole frame was read, if nothing was written since

  std::size_t frame() const { return kFrameHeader + page_size; }
  std::size_t room() const { return kMostBytes / frame() * frame(); }
  std::int64_t end() const { return begin + static_cast<std::int64_t>(size); }

  void append(const void* piece, std::size_t length, std::int64_t offset) {
    if (size == 0) begin = offset;
    std::memcpy(bytes.get() + size, piece, length);
    size += length;
  }

  // Whether a piece is the header of a frame that may wait behind those that do. A frame that was
  // just read is no new one: SQLite corrects its checksum, for pages that were written twice, and
  // writes no page behind the last of them.
  bool is_next_header(std::size_t length, std::int64_t offset) const {
    return may_wait && length == kFrameHeader && offset >= kLogHeader && offset != looked_at &&
           (offset - kLogHeader) % static_cast<std::int64_t>(frame()) == 0 &&
           (size == 0 || offset == end());
  }

  // Whether a piece is the page of the newest frame, of which so far only the header waits.
  bool is_next_page(std::size_t length, std::int64_t offset) const {
    return length == page_size && size % frame() == kFrameHeader && offset == end();
  }
};

// A file's own table, and what waits to be written to it.
struct Gathering {
  FileMethods methods;  // first: the file's pointer to it leads here
  std::unique_ptr<Waiting> waiting;
};

const Gathering& gathering(const DatabaseFile* file) {
  return *reinterpret_cast<const Gathering*>(file->methods);
}

Waiting& waiting(const DatabaseFile* file) { return *gathering(file).waiting; }

template <class Function>
Function original(const Waiting& waits, std::size_t at) {
  return reinterpret_cast<Function>(waits.original->functions[at]);
}

// Writes what waits; on any error it goes on waiting.
int write_out(DatabaseFile* file, Waiting& waits) {
  if (waits.size == 0) return kOk;
  const int result = original<WriteFunction>(waits, kWrite)(
      file, waits.bytes.get(), static_cast<int>(waits.size), waits.begin);
  if (result == kOk) waits.size = 0;
  return result;
}

// Writes what waits; on any error none of it does any longer: SQLite takes the transaction back.
int write_out_or_forget(DatabaseFile* file, Waiting& waits) {
  const int result = write_out(file, waits);
  waits.size = 0;
  return result;
}

int close(DatabaseFile* file) {
  // Whatever waits was never committed.
  const std::unique_ptr<const Gathering> ended(&gathering(file));
  file->methods = ended->waiting->original;
  return original<CloseFunction>(*ended->waiting, kClose)(file);
}

int read(DatabaseFile* file, void* into, int size, std::int64_t offset) {
  Waiting& waits = waiting(file);
  const int result = write_out(file, waits);
  if (result != kOk) return result;
  waits.looked_at = static_cast<std::size_t>(size) == waits.frame() ? offset : -1;
  return original<ReadFunction>(waits, kRead)(file, into, size, offset);
}

int write(DatabaseFile* file, const void* piece, int size, std::int64_t offset) {
  Waiting& waits = waiting(file);
  const auto length = static_cast<std::size_t>(size);
  if (waits.is_next_header(length, offset)) {
    waits.append(piece, length, offset);
    waits.looked_at = -1;
    const unsigned char* commit = static_cast<const unsigned char*>(piece) + kCommitAt;
    waits.commits = std::any_of(commit, commit + 4, [](unsigned char byte) { return byte != 0; });
    return kOk;
  }
  if (waits.is_next_page(length, offset)) {
    waits.append(piece, length, offset);
    return waits.commits || waits.size == waits.room() ? write_out_or_forget(file, waits) : kOk;
  }
  const int result = write_out_or_forget(file, waits);
  waits.looked_at = -1;
  if (result != kOk) return result;
  return original<WriteFunction>(waits, kWrite)(file, piece, size, offset);
}

int truncate(DatabaseFile* file, std::int64_t size) {
  Waiting& waits = waiting(file);
  const int result = write_out(file, waits);
  return result != kOk ? result : original<TruncateFunction>(waits, kTruncate)(file, size);
}

int sync(DatabaseFile* file, int how) {
  Waiting& waits = waiting(file);
  const int result = write_out(file, waits);
  return result != kOk ? result : original<SyncFunction>(waits, kSync)(file, how);
}

int file_size(DatabaseFile* file, std::int64_t* size) {
  Waiting& waits = waiting(file);
  const int result = write_out(file, waits);
  return result != kOk ? result : original<FileSizeFunction>(waits, kFileSize)(file, size);
}

bool gathers(const DatabaseFile& file) {
  return file.methods != nullptr &&
         file.methods->functions[kWrite] == reinterpret_cast<AnyFunction>(&write);
}

// Returns a table that stands for the given one, with everything that looks at the file's contents.
std::unique_ptr<Gathering> table_for(const FileMethods& original, std::size_t page_size) {
  auto waits = std::make_unique<Waiting>();
  waits->original = &original;
  waits->page_size = page_size;
  waits->bytes = std::make_unique<unsigned char[]>(waits->room());
  auto made = std::make_unique<Gathering>();
  made->methods = methods_like(original);
  made->methods.functions[kClose] = reinterpret_cast<AnyFunction>(&close);
  made->methods.functions[kRead] = reinterpret_cast<AnyFunction>(&read);
  made->methods.functions[kWrite] = reinterpret_cast<AnyFunction>(&write);
  made->methods.functions[kTruncate] = reinterpret_cast<AnyFunction>(&truncate);
  made->methods.functions[kSync] = reinterpret_cast<AnyFunction>(&sync);
  made->methods.functions[kFileSize] = reinterpret_cast<AnyFunction>(&file_size);
  made->waiting = std::move(waits);
  return made;
}

}  // namespace

bool gather_frames(DatabaseFile& log, std::size_t page_size) {
  if (log.methods == nullptr || log.methods->version < 1) return false;
  if (page_size > kLargestPage) return false;
  if (!gathers(log)) log.methods = &table_for(*log.methods, page_size).release()->methods;
  return true;
}

bool let_frames_wait(DatabaseFile& log, bool may_wait) {
  if (!gathers(log)) return false;
  Waiting& waits = waiting(&log);
  waits.size = 0;
  waits.may_wait = may_wait;
  return true;
}

}  // namespace ebb
