#include "core/link_graph.h"

#include <algorithm>
#include <limits>
#include <shared_mutex>
#include <utility>

#include "core/errors.h"

namespace ebb {

namespace {

using Reading = std::shared_lock<FairLock>;
using Writing = std::unique_lock<FairLock>;

constexpr auto kMostSlot = static_cast<std::int64_t>(LinkRows::kMostNodes) - 1;
constexpr std::size_t kMostLinks = std::numeric_limits<std::uint32_t>::max();

const char* const kNames[2][4] = {{"source", "target", "kind", "weight"},
                                  {"sources", "targets", "kinds", "weights"}};

void check_slots(Span<const std::int64_t> slots, std::int64_t least, const char* argument) {
  for (const std::int64_t slot : slots) {
    if (slot >= least && slot <= kMostSlot) continue;
    throw ValueError(argument, std::to_string(least) + " to " + std::to_string(kMostSlot),
                     std::to_string(slot));
  }
}

void check_columns(const LinkColumns& links, std::size_t kinds, const char* const names[4]) {
  const std::size_t count = links.sources.size;
  const std::size_t sizes[] = {links.targets.size, links.kinds.size, links.weights.size};
  for (int i = 0; i < 3; ++i) {
    if (sizes[i] == count) continue;
    throw ShapeError(names[i + 1], std::to_string(count) + " values", std::to_string(sizes[i]));
  }
  if (count > kMostLinks) {
    throw ValueError(names[0], "less than 2^32 links", std::to_string(count));
  }
  check_slots(links.sources, 0, names[0]);
  check_slots(links.targets, 0, names[1]);
  for (std::size_t i = 0; i < count; ++i) {
    if (links.kinds[i] >= kinds) {
      throw ValueError(names[2], "0 to " + std::to_string(kinds - 1),
                       std::to_string(links.kinds[i]));
    }
    const float weight = links.weights[i];
    if (!(weight >= 0.0f && weight <= std::numeric_limits<float>::max())) {
      throw ValueError(names[3], "finite float32, at least 0", std::to_string(weight));
    }
    if (links.sources[i] == links.targets[i]) {
      throw ValueError(names[1], "another slot than the source", std::to_string(links.targets[i]));
    }
  }
}

void check_leave(Span<const std::int64_t> sources, Span<const std::int64_t> slots) {
  std::vector<std::int64_t> sorted(slots.begin(), slots.end());
  std::sort(sorted.begin(), sorted.end());
  for (const std::int64_t source : sources) {
    if (std::binary_search(sorted.begin(), sorted.end(), source)) continue;
    throw ValueError("sources", "links that leave one of the slots", std::to_string(source));
  }
}

void check_size(std::size_t size, std::size_t nodes) {
  if (size >= nodes && size <= LinkRows::kMostNodes) return;
  throw ValueError("size", std::to_string(nodes) + " to " + std::to_string(LinkRows::kMostNodes),
                   std::to_string(size));
}

// The links of `rows` between slots that stay, under their new numbers.
LinkRows renumbered(const LinkRows& rows, Span<const std::int64_t> old_to_new) {
  std::vector<std::int64_t> sources, targets;
  std::vector<std::uint8_t> kinds;
  std::vector<float> weights;
  for (auto* const column : {&sources, &targets}) column->reserve(rows.size());
  kinds.reserve(rows.size());
  weights.reserve(rows.size());
  for (std::size_t slot = 0; slot < rows.nodes(); ++slot) {
    if (old_to_new[slot] < 0) continue;
    for (const Link& link : rows.links(slot)) {
      const std::int64_t target = old_to_new[static_cast<std::size_t>(link.target)];
      if (target < 0) continue;
      sources.push_back(old_to_new[slot]);
      targets.push_back(target);
      kinds.push_back(link.kind);
      weights.push_back(link.weight);
    }
  }
  LinkRows fresh(rows.carries());
  fresh.add({{sources.data(), sources.size()},
             {targets.data(), targets.size()},
             {kinds.data(), kinds.size()},
             {weights.data(), weights.size()}});
  return fresh;
}

void check_map(Span<const std::int64_t> old_to_new, std::size_t nodes) {
  check_slots(old_to_new, -1, "old_to_new");
  if (old_to_new.size < nodes) {
    throw ShapeError("old_to_new", "at least " + std::to_string(nodes) + " values, one per slot",
                     std::to_string(old_to_new.size));
  }
  std::vector<std::int64_t> numbers(old_to_new.begin(), old_to_new.begin() + nodes);
  std::sort(numbers.begin(), numbers.end());
  const auto staying = std::lower_bound(numbers.begin(), numbers.end(), 0);
  const auto twice = std::adjacent_find(staying, numbers.end());
  if (twice == numbers.end()) return;
  throw ValueError("old_to_new", "distinct numbers", std::to_string(*twice) + " twice");
}

}  // namespace

LinkGraph::LinkGraph(std::vector<bool> carries) : kinds_(carries.size()), rows_(carries) {
  if (carries.size() <= LinkRows::kMostKinds) return;
  throw ValueError("carries", "at most " + std::to_string(LinkRows::kMostKinds) + " kinds",
                   std::to_string(carries.size()));
}

void LinkGraph::add(const LinkColumns& links, bool single) {
  check_columns(links, kinds_, kNames[single ? 0 : 1]);
  if (links.sources.empty()) return;
  const std::lock_guard<std::mutex> turn(writer_);
  const Writing lock(lock_);
  rows_.add(links);
  ++version_;
}

void LinkGraph::replace(Span<const std::int64_t> slots, const LinkColumns& links) {
  check_slots(slots, 0, "slots");
  check_columns(links, kinds_, kNames[1]);
  check_leave(links.sources, slots);
  const std::lock_guard<std::mutex> turn(writer_);
  const Writing lock(lock_);
  rows_.replace(slots, links);
  ++version_;
}

std::size_t LinkGraph::drop_nodes(Span<const std::int64_t> slots) {
  check_slots(slots, 0, "slots");
  const std::lock_guard<std::mutex> turn(writer_);
  const Writing lock(lock_);
  const std::size_t dropped = rows_.drop(slots);
  if (dropped > 0) ++version_;
  return dropped;
}

void LinkGraph::remap(Span<const std::int64_t> old_to_new) {
  const std::lock_guard<std::mutex> turn(writer_);
  check_map(old_to_new, rows_.nodes());
  // No writer but this thread: reading needs no lock, and the old rows go after the new ones are
  // in place.
  LinkRows other = renumbered(rows_, old_to_new);
  const Writing lock(lock_);
  std::swap(rows_, other);
  ++version_;
}

std::size_t LinkGraph::size() const {
  const Reading lock(lock_);
  return rows_.size();
}

std::size_t LinkGraph::nodes() const {
  const Reading lock(lock_);
  return rows_.nodes();
}

std::size_t LinkGraph::bytes() const {
  const Reading lock(lock_);
  return rows_.bytes() + scratches_.bytes();
}

std::uint64_t LinkGraph::version() const {
  const Reading lock(lock_);
  return version_;
}

std::vector<Link> LinkGraph::links(std::int64_t slot) const {
  if (slot < 0) return {};
  const Reading lock(lock_);
  return rows_.links(static_cast<std::size_t>(slot));
}

LinkGraph::Matrix LinkGraph::matrix(std::size_t size) const {
  const Reading lock(lock_);
  check_size(size, rows_.nodes());
  Matrix out;
  out.version = version_;
  out.indptr.reserve(size + 1);
  out.indices.reserve(rows_.size());
  out.weights.reserve(rows_.size());
  out.indptr.push_back(0);
  for (std::size_t slot = 0; slot < size; ++slot) {
    for (const Link& link : rows_.links(slot)) {
      if (!rows_.carries()[link.kind]) continue;
      out.indices.push_back(link.target);
      out.weights.push_back(link.weight);
    }
    out.indptr.push_back(static_cast<std::int64_t>(out.indices.size()));
  }
  return out;
}

Activation LinkGraph::spread(std::size_t size, const Seeds& seeds, const SpreadRules& rules) const {
  const ScratchPool::Loan scratch(scratches_);
  const Reading lock(lock_);
  check_size(size, rows_.nodes());
  return ebb::spread(rows_, size, seeds, rules, *scratch);
}

}  // namespace ebb
