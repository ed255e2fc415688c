// The typed, weighted, directed links of one scope, by the node they leave: the data of LinkGraph,
// without its lock.
//
// A node's row lies in one block: its edges, {target, weight} interleaved, and behind them one tag
// per edge (its kind, and its place in the order of addition). Edges are kept heaviest first, then
// lowest target, so what a fan cap allows is the beginning of a row. In a long row that holds for
// a first run; links added later wait behind it in shorter runs, each sorted, whose lengths
// double: adding a link moves O(log) others, amortised, and touches no other row. 12 bytes a link
// and 32 a node, before growth.
//
// A link that carries no activation is kept with the sign of its weight turned, which puts it
// behind all that count.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/block_pool.h"
#include "core/list.h"
#include "core/prefetch.h"
#include "core/span.h"

namespace ebb {

// weight > 0: counts when spreading.
struct LinkEdge {
  std::int32_t target;
  float weight;
};

// A link of a node that is known; the weight as it was added.
struct Link {
  std::int32_t target;
  float weight;
  std::uint8_t kind;
};

// One link per entry, in order of addition.
struct LinkColumns {
  Span<const std::int64_t> sources;
  Span<const std::int64_t> targets;
  Span<const std::uint8_t> kinds;
  Span<const float> weights;
};

class LinkRows {
 public:
  static constexpr std::size_t kMostNodes = (std::size_t{1} << 31) - 1;
  static constexpr std::size_t kMostKinds = 16;
  static constexpr std::size_t kMostInRow = std::size_t{1} << 28;

  // What a node passes over, the heaviest first.
  struct Row {
    const LinkEdge* edges;
    std::size_t size;
    double mass;  // of all edges that count, also those left out, summed in order of addition
  };

  // carries[kind]: whether links of a kind count when spreading. At most kMostKinds.
  explicit LinkRows(std::vector<bool> carries) : carries_(std::move(carries)) {}

  std::size_t size() const { return size_; }
  // Above every node that a link names.
  std::size_t nodes() const { return rows_.size(); }
  const std::vector<bool>& carries() const { return carries_; }
  std::size_t bytes() const;

  // Appends links whose values were checked: nodes below kMostNodes, known kinds, finite weights
  // of at least 0, less than 2^32 of them. Throws ValueError where a row would be too long. When
  // it throws, nothing was added.
  void add(const LinkColumns& links);

  // Lets the links that leave each of the nodes be those given, in order of addition; all of them
  // leave one of the nodes. Values as for `add`. When it throws, nothing was changed.
  void replace(Span<const std::int64_t> nodes, const LinkColumns& links);

  // Takes away every link that leaves or reaches one of the nodes; returns how many. When it
  // throws (out of memory), nothing was taken.
  std::size_t drop(Span<const std::int64_t> nodes);

  // The links that leave a node, in order of addition.
  std::vector<Link> links(std::size_t node) const;

  // The first edges of a node that count, `cap` at most: in place, or gathered into `room`.
  Row row(std::size_t node, std::size_t cap, std::vector<LinkEdge>& room) const;

  std::size_t width(std::size_t node, std::size_t cap) const {
    return node < rows_.size() ? std::min<std::size_t>(rows_[node].carrying, cap) : 0;
  }

  // For asking ahead: first for a node's row, later for its edges, then for where they lead.
  void prefetch_row(std::size_t node) const {
    if (node < rows_.size()) prefetch(&rows_[node]);
  }
  void prefetch_edges(std::size_t node, std::size_t cap) const;
  Span<const LinkEdge> first_run(std::size_t node) const {
    if (node >= rows_.size()) return {};
    return {rows_[node].edges, std::min(rows_[node].sorted, rows_[node].carrying)};
  }

 private:
  struct Stored {
    LinkEdge* edges = nullptr;
    double mass = 0.0;
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;
    std::uint32_t sorted = 0;    // length of the first run
    std::uint32_t carrying = 0;  // edges that count

    std::uint32_t* tags() const { return reinterpret_cast<std::uint32_t*>(edges + capacity); }
  };

  struct Tagged {
    LinkEdge edge;
    std::uint32_t tag;
  };

  // A new link by its place in the columns.
  struct Placed {
    std::uint32_t node;  // its source
    std::uint32_t at;
  };

  // New links of one row, in order of addition.
  struct Addition {
    Span<const Placed> links;
    Stored moved;  // the row's new block where the old one is too small
  };

  static bool comes_before(const LinkEdge& a, const LinkEdge& b);

  List<Placed> by_source(const LinkColumns& links, std::size_t& nodes) const;
  void grow(std::size_t nodes, const List<Placed>& order, bool anew,
            std::vector<Addition>& additions);
  void prepare(const List<Placed>& order, bool anew, std::vector<Addition>& additions);
  void append(const Addition& addition, const LinkColumns& links);
  Tagged tagged(const Placed& placed, std::uint32_t order, const LinkColumns& links) const;
  void insert(Stored& row, const Tagged& link);
  void insert_in_run(Stored& row, std::size_t begin, const Tagged& link);
  void merge(Stored& row, std::size_t begin, std::size_t middle, std::size_t end);
  void merge_all(Stored& row);
  std::size_t filter(Stored& row, const std::vector<bool>& gone);
  void move_to(Stored& row, const Stored& block);
  Stored block_for(std::size_t links);
  void release(Stored& row);

  std::vector<bool> carries_;
  std::vector<Stored> rows_;
  BlockPool blocks_;
  std::vector<Tagged> room_;  // for merging and filtering: as long as the longest row that did
  std::size_t size_ = 0;
};

}  // namespace ebb
