#include "core/page_room.h"

namespace ebb {

namespace {

constexpr std::size_t kSmallestPage = 512;
constexpr std::size_t kFirstHeader = 100;  // the header of the file stands before the first page's

std::size_t number(const unsigned char* bytes) {
  return static_cast<std::size_t>(bytes[0]) << 8 | bytes[1];
}

bool is_page_size(std::size_t size) {
  return size >= kSmallestPage && size <= kLargestPage && (size & (size - 1)) == 0;
}

}  // namespace

PageRoom unallocated_room(Span<const unsigned char> page, std::int64_t offset) {
  constexpr PageRoom kNone{0, 0};
  if (!is_page_size(page.size) || offset % static_cast<std::int64_t>(page.size) != 0) return kNone;
  const std::size_t header = offset == 0 ? kFirstHeader : 0;
  const unsigned char* at = page.data + header;
  const unsigned char kind = at[0];
  const bool leaf = kind == 10 || kind == 13;
  if (!leaf && kind != 2 && kind != 5) return kNone;
  const std::size_t begin = header + (leaf ? 8 : 12) + 2 * number(at + 3);
  const std::size_t cells = number(at + 5);
  const std::size_t end = cells == 0 ? kLargestPage : cells;
  return begin < end && end <= page.size ? PageRoom{begin, end} : kNone;
}

}  // namespace ebb
