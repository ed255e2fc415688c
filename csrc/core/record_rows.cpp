#include "core/record_rows.h"

#include <array>
#include <cstring>

#include "core/crc32.h"

namespace ebb {

namespace {

constexpr std::uint32_t kHigh = 0x7FFFFFFF;
// Not UTF-8, so no text is equal to it.
constexpr Span<const char> kNullText{"\xff\xfeNULL", 6};

// The numbers of one row, little-endian.
template <std::size_t kCount>
class Packed {
 public:
  Packed& add(std::int64_t number) {
    const auto bits = static_cast<std::uint64_t>(number);
    for (int byte = 0; byte < 8; ++byte) bytes_[size_++] = static_cast<char>(bits >> 8 * byte);
    return *this;
  }
  Packed& add(std::size_t size) { return add(static_cast<std::int64_t>(size)); }
  // -0.0 becomes 0.0, as SQLite stores it.
  Packed& add(double number) {
    const double stored = number + 0.0;
    std::int64_t bits = 0;
    std::memcpy(&bits, &stored, sizeof(bits));
    return add(bits);
  }

  std::uint32_t summed(Span<const char> table) const {
    return crc32({bytes_.data(), size_}, crc32(table));
  }

 private:
  std::array<char, 8 * kCount> bytes_;
  std::size_t size_ = 0;
};

Span<const char> or_null_text(Span<const char> text) {
  return text.data == nullptr ? kNullText : text;
}

template <std::size_t kSize>
Span<const char> name(const char (&text)[kSize]) {
  return {text, kSize - 1};
}

}  // namespace

std::int64_t index_checksum(const MemoryRecord& row) {
  const Span<const char> run = or_null_text(row.run_id);
  Packed<18> numbers;
  numbers.add(row.row_id).add(row.anchored_at).add(row.access_count).add(row.created_at);
  numbers.add(row.pinned).add(row.tier).add(row.seq);
  numbers.add(row.valid_from).add(row.valid_to).add(row.expires_at).add(row.superseded_by);
  numbers.add(row.importance).add(row.emotional_valence).add(row.emotional_intensity);
  numbers.add(row.storage_strength).add(row.r_anchor);
  numbers.add(row.memory_type.size).add(run.size);
  const std::uint32_t sum = numbers.summed(name("memories.index"));
  return crc32(run, crc32(row.memory_type, sum)) & kHigh;
}

std::int64_t text_checksum(const TextRecord& row) {
  Packed<3> numbers;
  numbers.add(row.row_id).add(row.summary.size).add(row.keywords.size);
  return crc32(row.keywords, crc32(row.summary, numbers.summed(name("memories.text"))));
}

std::int64_t content_checksum(const ContentRecord& row) {
  const std::array<Span<const char>, 6> texts = {
      row.id,     or_null_text(row.detail), or_null_text(row.key),
      row.digest, or_null_text(row.source), or_null_text(row.metadata)};
  Packed<12> numbers;
  numbers.add(row.row_id).add(row.recorded_at).add(row.verified).add(row.text_checksum);
  numbers.add(row.due_at).add(row.superseded_at);
  for (const Span<const char> text : texts) numbers.add(text.size);
  std::uint32_t sum = numbers.summed(name("memories.content"));
  for (const Span<const char> text : texts) sum = crc32(text, sum);
  return sum;
}

std::int64_t event_checksum(const EventRecord& row) {
  Packed<6> numbers;
  numbers.add(row.seq).add(row.scope_id).add(row.at).add(row.memory);
  const Span<const char> payload = or_null_text(row.payload);
  numbers.add(row.kind.size).add(payload.size);
  return crc32(payload, crc32(row.kind, numbers.summed(name("events"))));
}

std::int64_t link_checksum(const LinkRecord& row) {
  Packed<4> edge;
  edge.add(row.source).add(row.target).add(row.created_at).add(row.kind.size);
  Packed<5> weight;
  weight.add(row.source).add(row.target).add(row.seq).add(row.weight).add(row.kind.size);
  const std::int64_t stays = crc32(row.kind, edge.summed(name("links.edge"))) & kHigh;
  return stays << 32 | crc32(row.kind, weight.summed(name("links.weight")));
}

}  // namespace ebb
