// reach_f32: which coded rows can still score enough. Bit-equal family.
// Bound by arithmetic: about a dozen operations for 8 rows, in cache.

struct ReachLanes {
  F32x16 scale, error, norm, weight, offset;
};

inline ReachLanes load_reach(const ReachRows& rows, std::size_t i) {
  const bool weighted = rows.weight != nullptr;
  return {load(rows.scale + i), load(rows.error + i), load(rows.norm + i),
          weighted ? load(rows.weight + i) : broadcast(1.0f),
          weighted ? load(rows.offset + i) : zero()};
}

// Where a row has no bound the sum may be NaN, which min and max let through, as not_less does.
inline std::uint32_t reach_lanes(const F32x16& dots, const ReachLanes& rows,
                                 const ReachQuery& query) {
  const F32x16 middle = mul(mul(dots, rows.scale), broadcast(query.scale));
  const F32x16 radius =
      add(mul(rows.error, broadcast(query.norm)), mul(rows.norm, broadcast(query.error)));
  const F32x16 upper = min(broadcast(1.0f), max(broadcast(-1.0f), add(middle, radius)));
  return not_less(add(mul(rows.weight, upper), rows.offset), broadcast(query.floor));
}

void reach_f32(const std::int32_t* dots, const ReachRows& rows, const ReachQuery& query,
               std::size_t count, std::uint16_t* bits) {
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const std::uint32_t mask = reach_lanes(load_integers(dots + i), load_reach(rows, i), query);
    bits[i / 16] = static_cast<std::uint16_t>(mask);
  }
  if (i == count) return;
  const std::size_t bytes = (count - i) * sizeof(float);
  float part[5][16] = {};
  std::int32_t last[16] = {};
  std::memcpy(last, dots + i, bytes);
  std::memcpy(part[0], rows.scale + i, bytes);
  std::memcpy(part[1], rows.error + i, bytes);
  std::memcpy(part[2], rows.norm + i, bytes);
  if (rows.weight != nullptr) {
    std::memcpy(part[3], rows.weight + i, bytes);
    std::memcpy(part[4], rows.offset + i, bytes);
  }
  const bool weighted = rows.weight != nullptr;
  const ReachRows tail = {part[0], part[1], part[2], weighted ? part[3] : nullptr, part[4]};
  const std::uint32_t mask = reach_lanes(load_integers(last), load_reach(tail, 0), query);
  bits[i / 16] = static_cast<std::uint16_t>(mask & ((1u << (count - i)) - 1u));
}
