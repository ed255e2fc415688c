#include "core/link_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/errors.h"
#include "core/node_order.h"

namespace ebb {

namespace {

constexpr std::size_t kShortRow = 64;  // up to here a row is one run, and links are put in place
constexpr std::size_t kLeastRun = 32;
constexpr std::uint32_t kKindBits = 4;
static_assert(std::size_t{1} << kKindBits == LinkRows::kMostKinds);
static_assert((std::uint64_t{LinkRows::kMostInRow} << kKindBits) <= (std::uint64_t{1} << 32));

std::uint8_t kind_of(std::uint32_t tag) {
  return static_cast<std::uint8_t>(tag & ((1u << kKindBits) - 1));
}

// Where the runs of a row begin, and at last its size. Behind the first run there is one of
// kLeastRun * 2^i edges for each bit i of the number of whole kLeastRuns, and one of the rest.
struct Runs {
  std::array<std::size_t, 40> bounds;
  std::size_t count = 0;

  Runs(std::size_t sorted, std::size_t size) {
    std::size_t at = 0;
    const auto close = [&](std::size_t length) {
      bounds[count++] = at;
      at += length;
    };
    if (sorted > 0) close(sorted);
    const std::size_t whole = (size - sorted) / kLeastRun;
    for (int bit = 31; bit >= 0; --bit) {
      if ((whole >> bit & 1) != 0) close(kLeastRun << bit);
    }
    if (at < size) close(size - at);
    bounds[count] = size;
  }
};

}  // namespace

bool LinkRows::comes_before(const LinkEdge& a, const LinkEdge& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.target < b.target;
}

std::size_t LinkRows::bytes() const {
  return rows_.capacity() * sizeof(Stored) + blocks_.bytes() + room_.capacity() * sizeof(Tagged);
}

void LinkRows::add(const LinkColumns& links) {
  std::size_t nodes = 0;
  const List<Placed> order = by_source(links, nodes);
  std::vector<Addition> additions;
  grow(nodes, order, false, additions);
  for (const Addition& one : additions) append(one, links);
  size_ += order.size();
}

void LinkRows::replace(Span<const std::int64_t> nodes, const LinkColumns& links) {
  std::size_t size = 0;
  const List<Placed> order = by_source(links, size);
  std::vector<Addition> additions;
  grow(size, order, true, additions);
  for (const std::int64_t node : nodes) {
    if (static_cast<std::uint64_t>(node) >= rows_.size()) continue;
    size_ -= rows_[static_cast<std::size_t>(node)].size;
    release(rows_[static_cast<std::size_t>(node)]);
  }
  for (const Addition& one : additions) append(one, links);
  size_ += order.size();
}

// The links by the node they leave, in order; and how many nodes there are with those they name.
List<LinkRows::Placed> LinkRows::by_source(const LinkColumns& links, std::size_t& nodes) const {
  List<Placed> order, other;
  order.resize_for_overwrite(links.sources.size);
  std::int64_t last = -1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = {static_cast<std::uint32_t>(links.sources[i]), static_cast<std::uint32_t>(i)};
    last = std::max({last, links.sources[i], links.targets[i]});
  }
  nodes = std::max(rows_.size(), static_cast<std::size_t>(last + 1));
  sort_by_node(order, other, nodes);
  return order;
}

// Makes room for nodes and prepares what will be appended; when it throws, nothing was changed.
void LinkRows::grow(std::size_t nodes, const List<Placed>& order, bool anew,
                    std::vector<Addition>& additions) {
  const std::size_t before = rows_.size();
  try {
    // Not more than needed at once, but by half as much when it grows link by link.
    if (nodes > rows_.capacity()) rows_.reserve(std::max(nodes, before + before / 2));
    rows_.resize(nodes);
    prepare(order, anew, additions);
  } catch (...) {
    for (Addition& one : additions) release(one.moved);
    rows_.resize(before);
    throw;
  }
}

// Everything that can fail: blocks for rows that are too short, or that begin anew, and room for
// merging.
void LinkRows::prepare(const List<Placed>& order, bool anew, std::vector<Addition>& additions) {
  std::size_t longest = 0;
  for (const Placed* first = order.begin(); first != order.end();) {
    const std::uint32_t node = first->node;
    const auto last =
        std::find_if(first, order.end(), [&](const Placed& one) { return one.node != node; });
    const auto count = static_cast<std::size_t>(last - first);
    const Stored row = anew ? Stored() : rows_[node];
    const std::size_t needed = row.size + count;
    if (needed > kMostInRow) {
      throw ValueError("sources", "at most " + std::to_string(kMostInRow) + " links of one slot",
                       std::to_string(needed) + " of " + std::to_string(node));
    }
    additions.push_back({{first, count}, {}});
    if (needed > row.capacity) {
      additions.back().moved = block_for(std::max<std::size_t>(needed, row.size + row.size / 4));
    }
    if (needed > kShortRow || count > 1) longest = std::max(longest, needed);
    first = last;
  }
  if (longest > room_.size()) room_.resize(std::max(longest, room_.size() + room_.size() / 2));
}

void LinkRows::append(const Addition& addition, const LinkColumns& links) {
  Stored& row = rows_[addition.links[0].node];
  if (addition.moved.capacity > 0) move_to(row, addition.moved);
  const std::size_t count = addition.links.size, before = row.size;
  if (count <= before / 8 || count == 1) {
    for (const Placed& one : addition.links) insert(row, tagged(one, row.size, links));
    return;
  }
  merge_all(row);
  for (std::size_t i = 0; i < count; ++i) {
    room_[i] = tagged(addition.links[i], static_cast<std::uint32_t>(before + i), links);
    row.mass += std::max(room_[i].edge.weight, 0.0f);
    row.carrying += room_[i].edge.weight > 0;
  }
  std::sort(room_.begin(), room_.begin() + static_cast<std::ptrdiff_t>(count),
            [](const Tagged& a, const Tagged& b) { return comes_before(a.edge, b.edge); });
  for (std::size_t i = 0; i < count; ++i) {
    row.edges[before + i] = room_[i].edge;
    row.tags()[before + i] = room_[i].tag;
  }
  row.size += static_cast<std::uint32_t>(count);
  if (before > 0) merge(row, 0, before, row.size);
  row.sorted = row.size;
}

// Lets a row lie in a larger block.
void LinkRows::move_to(Stored& row, const Stored& block) {
  Stored moved = row;
  moved.edges = block.edges;
  moved.capacity = block.capacity;
  std::copy_n(row.edges, row.size, moved.edges);
  std::copy_n(row.tags(), row.size, moved.tags());
  std::swap(row, moved);
  release(moved);
}

LinkRows::Tagged LinkRows::tagged(const Placed& placed, std::uint32_t order,
                                  const LinkColumns& links) const {
  const std::uint8_t kind = links.kinds[placed.at];
  const float weight = links.weights[placed.at];
  const auto target = static_cast<std::int32_t>(links.targets[placed.at]);
  return {{target, carries_[kind] ? weight : -weight}, order << kKindBits | kind};
}

void LinkRows::insert(Stored& row, const Tagged& link) {
  if (link.edge.weight > 0) {
    row.mass += link.edge.weight;
    ++row.carrying;
  }
  if (row.sorted == row.size && row.size < kShortRow) {
    insert_in_run(row, 0, link);
    row.sorted = row.size;
    return;
  }
  insert_in_run(row, row.size - (row.size - row.sorted) % kLeastRun, link);
  const std::size_t waiting = row.size - row.sorted;
  if (waiting % kLeastRun != 0) return;
  // Like carrying in binary: two runs of one length become one.
  for (std::size_t run = kLeastRun; (waiting / run) % 2 == 0; run *= 2) {
    merge(row, row.size - 2 * run, row.size - run, row.size);
  }
  if (waiting >= row.sorted / 2) merge_all(row);
}

void LinkRows::insert_in_run(Stored& row, std::size_t begin, const Tagged& link) {
  std::uint32_t* const tags = row.tags();
  std::size_t at = row.size++;
  for (; at > begin && comes_before(link.edge, row.edges[at - 1]); --at) {
    row.edges[at] = row.edges[at - 1];
    tags[at] = tags[at - 1];
  }
  row.edges[at] = link.edge;
  tags[at] = link.tag;
}

// Merges two runs that lie side by side: the second is set aside, then the last go first.
void LinkRows::merge(Stored& row, std::size_t begin, std::size_t middle, std::size_t end) {
  std::uint32_t* const tags = row.tags();
  std::size_t right = end - middle;
  for (std::size_t i = 0; i < right; ++i) room_[i] = {row.edges[middle + i], tags[middle + i]};
  std::size_t left = middle;
  for (std::size_t out = end; right > 0;) {
    --out;
    if (left > begin && comes_before(room_[right - 1].edge, row.edges[left - 1])) {
      --left;
      row.edges[out] = row.edges[left];
      tags[out] = tags[left];
    } else {
      --right;
      row.edges[out] = room_[right].edge;
      tags[out] = room_[right].tag;
    }
  }
}

void LinkRows::merge_all(Stored& row) {
  const Runs runs(row.sorted, row.size);
  for (std::size_t i = runs.count; i-- > 1;) {
    merge(row, runs.bounds[i - 1], runs.bounds[i], row.size);
  }
  row.sorted = row.size;
}

std::size_t LinkRows::drop(Span<const std::int64_t> nodes) {
  std::vector<bool> gone(rows_.size());
  bool any = false;
  for (const std::int64_t node : nodes) {
    if (static_cast<std::uint64_t>(node) >= rows_.size()) continue;
    gone[static_cast<std::size_t>(node)] = true;
    any = true;
  }
  if (!any) return 0;
  std::size_t longest = 0;
  for (const Stored& row : rows_) longest = std::max<std::size_t>(longest, row.size);
  if (longest > room_.size()) room_.resize(longest);

  std::size_t dropped = 0, used = 0;
  for (std::size_t node = 0; node < rows_.size(); ++node) {
    Stored& row = rows_[node];
    if (gone[node]) {
      dropped += row.size;
      release(row);
    } else {
      dropped += filter(row, gone);
    }
    if (row.size > 0) used = std::max(used, node + 1);
    for (std::size_t i = 0; i < row.size; ++i) {
      used = std::max(used, static_cast<std::size_t>(row.edges[i].target) + 1);
    }
  }
  rows_.resize(used);
  size_ -= dropped;
  return dropped;
}

// Takes the edges to nodes that are gone out of a row; returns how many.
std::size_t LinkRows::filter(Stored& row, const std::vector<bool>& gone) {
  const auto is_gone = [&](const LinkEdge& edge) {
    return gone[static_cast<std::size_t>(edge.target)];
  };
  if (std::none_of(row.edges, row.edges + row.size, is_gone)) return 0;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < row.size; ++i) {
    if (!is_gone(row.edges[i])) room_[kept++] = {row.edges[i], row.tags()[i]};
  }
  const auto end = room_.begin() + static_cast<std::ptrdiff_t>(kept);
  std::sort(room_.begin(), end, [](const Tagged& a, const Tagged& b) { return a.tag < b.tag; });
  row.mass = 0.0;
  row.carrying = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    room_[i].tag = static_cast<std::uint32_t>(i) << kKindBits | kind_of(room_[i].tag);
    row.mass += std::max(room_[i].edge.weight, 0.0f);
    row.carrying += room_[i].edge.weight > 0;
  }
  std::sort(room_.begin(), end,
            [](const Tagged& a, const Tagged& b) { return comes_before(a.edge, b.edge); });
  for (std::size_t i = 0; i < kept; ++i) {
    row.edges[i] = room_[i].edge;
    row.tags()[i] = room_[i].tag;
  }
  const std::size_t dropped = row.size - kept;
  row.size = row.sorted = static_cast<std::uint32_t>(kept);
  if (kept == 0) release(row);
  return dropped;
}

std::vector<Link> LinkRows::links(std::size_t node) const {
  if (node >= rows_.size()) return {};
  const Stored& row = rows_[node];
  std::vector<Link> out(row.size);
  for (std::size_t i = 0; i < row.size; ++i) {
    const std::uint32_t tag = row.tags()[i];
    out[tag >> kKindBits] = {row.edges[i].target, std::abs(row.edges[i].weight), kind_of(tag)};
  }
  return out;
}

LinkRows::Row LinkRows::row(std::size_t node, std::size_t cap, std::vector<LinkEdge>& room) const {
  if (node >= rows_.size()) return {nullptr, 0, 0.0};
  const Stored& row = rows_[node];
  const std::size_t wanted = std::min<std::size_t>(row.carrying, cap);
  if (row.sorted == row.size) return {row.edges, wanted, row.mass};
  Runs heads(row.sorted, row.size);
  const Runs runs = heads;
  room.clear();
  while (room.size() < wanted) {
    std::size_t best = runs.count;
    for (std::size_t i = 0; i < runs.count; ++i) {
      if (heads.bounds[i] == runs.bounds[i + 1]) continue;
      const LinkEdge& edge = row.edges[heads.bounds[i]];
      if (best == runs.count || comes_before(edge, row.edges[heads.bounds[best]])) best = i;
    }
    room.push_back(row.edges[heads.bounds[best]++]);
  }
  return {room.data(), wanted, row.mass};
}

void LinkRows::prefetch_edges(std::size_t node, std::size_t cap) const {
  if (node >= rows_.size()) return;
  constexpr std::size_t kLine = 64, kMost = 512;  // the hardware sees to the rest of a long row
  const Stored& row = rows_[node];
  const auto* const first = reinterpret_cast<const char*>(row.edges);
  const std::size_t edges = std::min<std::size_t>(row.carrying, cap);
  const std::size_t length = std::min(edges * sizeof(LinkEdge), kMost);
  for (std::size_t at = 0; at < length; at += kLine) prefetch(first + at);
}

LinkRows::Stored LinkRows::block_for(std::size_t links) {
  constexpr std::size_t kBytes = sizeof(LinkEdge) + sizeof(std::uint32_t);
  const std::size_t words =
      BlockPool::rounded((links * kBytes + BlockPool::kWord - 1) / BlockPool::kWord);
  Stored row;
  row.edges = static_cast<LinkEdge*>(blocks_.take(words));
  row.capacity = static_cast<std::uint32_t>(words * BlockPool::kWord / kBytes);
  return row;
}

void LinkRows::release(Stored& row) {
  constexpr std::size_t kBytes = sizeof(LinkEdge) + sizeof(std::uint32_t);
  if (row.capacity == 0) return;
  blocks_.give_back(row.edges, (row.capacity * kBytes + BlockPool::kWord - 1) / BlockPool::kWord);
  row = Stored();
}

}  // namespace ebb
