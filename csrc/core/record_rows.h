// Rows of the record store as they are written and loaded, and their checksums. The form that is
// summed up is that of ebbmem/records/memory_rows.py: 64-bit little-endian numbers, then UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/span.h"

namespace ebb {

// What NULL is in the form of a number.
constexpr std::int64_t kNull = std::numeric_limits<std::int64_t>::min();

// Whether `count` numbers from `first` on all have 64 bits.
inline bool numbers_fit(std::int64_t first, std::size_t count) {
  const std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  return count == 0 || count - 1 <= most - static_cast<std::uint64_t>(first);
}

// A memory; texts are borrowed UTF-8, `run_id` has no data for NULL.
struct MemoryRecord {
  std::int64_t row_id;
  Span<const char> memory_type;
  double importance;
  double emotional_valence;
  double emotional_intensity;
  double storage_strength;
  double r_anchor;
  std::int64_t anchored_at;
  std::int64_t access_count;
  std::int64_t created_at;
  std::int64_t valid_from;  // or kNull, as the three that say so
  std::int64_t valid_to;    // or kNull
  std::int64_t expires_at;  // or kNull
  std::int64_t pinned;
  std::int64_t tier;
  std::int64_t superseded_by;  // or kNull
  Span<const char> run_id;
  std::int64_t seq;
};

// What is searched of a memory.
struct TextRecord {
  std::int64_t row_id;
  Span<const char> summary;
  Span<const char> keywords;
};

// What else there is of a memory; texts as above, those of `detail`, `key`, `source` and `metadata`
// have no data for NULL.
struct ContentRecord {
  std::int64_t row_id;
  std::int64_t recorded_at;
  std::int64_t verified;
  std::int64_t text_checksum;
  std::int64_t due_at;         // or kNull
  std::int64_t superseded_at;  // or kNull
  Span<const char> id;
  Span<const char> detail;
  Span<const char> key;
  Span<const char> digest;
  Span<const char> source;
  Span<const char> metadata;
};

struct EventRecord {
  std::int64_t seq;
  std::int64_t scope_id;
  Span<const char> kind;
  std::int64_t at;
  std::int64_t memory;       // or kNull
  Span<const char> payload;  // without data for NULL
};

struct LinkRecord {
  std::int64_t source;
  std::int64_t target;
  Span<const char> kind;
  double weight;
  std::int64_t created_at;
  std::int64_t seq;
};

// The upper half of a memory's checksum.
std::int64_t index_checksum(const MemoryRecord& row);
std::int64_t text_checksum(const TextRecord& row);
// The lower half.
std::int64_t content_checksum(const ContentRecord& row);
std::int64_t event_checksum(const EventRecord& row);
std::int64_t link_checksum(const LinkRecord& row);

}  // namespace ebb
