#include "core/dot_ranges.h"

#include <algorithm>
#include <cstddef>

#include "core/dispatch.h"

namespace ebb {

namespace {

// Enough misses of the cache to wait for at once, few enough to stay on the stack.
constexpr std::size_t kGroup = 64;

void group_ranges(const Arena::View& rows, const CodedQuery& query, const std::int32_t* slots,
                  std::size_t count, DotRange* out) {
  const std::int8_t* codes[kGroup];
  CodeBound bounds[kGroup];
  std::int32_t dots[kGroup];
  for (std::size_t i = 0; i < count; ++i) {
    const auto slot = static_cast<std::size_t>(slots[i]);
    codes[i] = rows.codes(slot);
    bounds[i] = rows.bound(slot);
  }
  active().dot_codes_at(query.codes(), codes, count, query.code_dim(), dots);
  for (std::size_t i = 0; i < count; ++i) out[i] = query.range(dots[i], bounds[i]);
}

}  // namespace

void dot_ranges(const Arena::View& rows, const CodedQuery& query, Span<const std::int32_t> slots,
                DotRange* out) {
  if (query.code_dim() == 0) {
    std::fill_n(out, slots.size, DotRange{-1.0, 1.0});
    return;
  }
  for (std::size_t first = 0; first < slots.size; first += kGroup) {
    const std::size_t count = std::min(kGroup, slots.size - first);
    group_ranges(rows, query, slots.data + first, count, out + first);
  }
}

}  // namespace ebb
