#include "core/memory_columns.h"

namespace ebb {

namespace {

std::int64_t value_or(std::int64_t value, std::int64_t missing) {
  return value == kNull ? missing : value;
}

}  // namespace

void MemoryColumns::append(const MemoryRecord& memory) {
  const std::size_t at = size();
  valid_from_us.append(at, value_or(memory.valid_from, kAlways));
  valid_to_us.append(at, value_or(memory.valid_to, kNever));
  expires_us.append(at, value_or(memory.expires_at, kNever));
  successor.append(at, value_or(memory.superseded_by, 0));
  valence.append(at, memory.emotional_valence);
  kind.append(at, kinds.number(memory.memory_type));
  run.append(at, memory.run_id.data == nullptr ? -1 : runs.number(memory.run_id));
  pinned.append(at, memory.pinned != 0 ? 1 : 0);
  row.push_back(memory.row_id);
  created_us.push_back(memory.created_at);
  anchored_us.push_back(memory.anchored_at);
  access_count.push_back(memory.access_count);
  importance.push_back(memory.importance);
  intensity.push_back(memory.emotional_intensity);
  strength.push_back(memory.storage_strength);
  anchor.push_back(memory.r_anchor);
  tier.push_back(static_cast<std::int8_t>(memory.tier));
}

}  // namespace ebb
