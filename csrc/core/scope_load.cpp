#include "core/scope_load.h"

#include <limits>

namespace ebb {

namespace {

bool is_tier(std::int64_t tier) {
  return tier >= 0 && tier <= std::numeric_limits<std::int8_t>::max();
}

}  // namespace

bool MemoryLoad::add(const MemoryRecord& row, std::int64_t checksum) {
  if (index_checksum(row) != checksum >> 32 || !is_tier(row.tier)) return false;
  columns_.append(row);
  checksum_xor_ ^= checksum;
  return true;
}

bool LinkLoad::add(const LinkRecord& row, std::int64_t checksum) {
  if (link_checksum(row) != checksum) return false;
  source.push_back(row.source);
  target.push_back(row.target);
  weight.push_back(row.weight);
  kind.push_back(kinds.number(row.kind));
  return true;
}

}  // namespace ebb
