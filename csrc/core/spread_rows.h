// What spreading reads: the rows of either form of a graph, with what is worth asking for ahead.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/csr.h"
#include "core/link_rows.h"
#include "core/list.h"
#include "core/prefetch.h"
#include "core/reached.h"
#include "core/span.h"

namespace ebb {

constexpr std::size_t kNoCap = std::numeric_limits<std::size_t>::max();

// Rows of links, looked at some steps ahead.
class LinkGraphRows {
 public:
  LinkGraphRows(const LinkRows& links, std::size_t nodes, std::size_t fan_cap)
      : links_(links), nodes_(nodes), fan_cap_(fan_cap == 0 ? kNoCap : fan_cap) {}

  std::size_t nodes() const { return nodes_; }

  LinkRows::Row row(std::uint32_t node) { return links_.row(node, fan_cap_, room_); }

  // Edges that a node passes over.
  std::size_t width(std::uint32_t node) const { return links_.width(node, fan_cap_); }

  // Whether two edges of a row may lead to one node without being in order.
  static constexpr bool kMayBeUnordered = false;

  // Asks for the rows of nodes far ahead and the edges of nearer ones.
  void look_ahead(const List<Passing>& frontier, std::size_t at) const {
    constexpr std::size_t kRows = 24, kEdges = 12;
    const std::size_t end = frontier.size();
    for (std::size_t i = at == 0 ? 0 : at + kRows; i < std::min(at + kRows + 1, end); ++i) {
      links_.prefetch_row(frontier[i].node);
    }
    for (std::size_t i = at == 0 ? 0 : at + kEdges; i < std::min(at + kEdges + 1, end); ++i) {
      links_.prefetch_edges(frontier[i].node, fan_cap_);
    }
  }

  // Asks for the places that the edges of the next nodes lead to; `cell_of` tells what these are
  // read from.
  template <typename CellOf>
  void look_at_targets(const List<Passing>& frontier, std::size_t at, CellOf cell_of) const {
    constexpr std::size_t kTargets = 4;
    const std::size_t end = frontier.size();
    for (std::size_t i = at == 0 ? 0 : at + kTargets; i < std::min(at + kTargets + 1, end); ++i) {
      const Span<const LinkEdge> edges = links_.first_run(frontier[i].node);
      const std::size_t some = std::min({edges.size, fan_cap_, kMostTargets});
      for (std::size_t e = 0; e < some; ++e) prefetch(cell_of(edges[e].target));
    }
  }

 private:
  static constexpr std::size_t kMostTargets = 64;

  const LinkRows& links_;
  std::size_t nodes_;
  std::size_t fan_cap_;
  std::vector<LinkEdge> room_;
};

// Rows of a matrix, checked and copied as they are read.
class MatrixRows {
 public:
  struct Row {
    Edge* edges;
    std::size_t size;
    double mass;
  };

  MatrixRows(const Adjacency& graph, std::size_t fan_cap)
      : graph_(graph), fan_cap_(fan_cap == 0 ? kNoCap : fan_cap), row_(fan_cap) {}

  std::size_t nodes() const { return graph_.nodes(); }

  Row row(std::uint32_t node) {
    graph_.read(node, row_);
    return {row_.edges().data(), row_.edges().size(), row_.mass()};
  }

  std::size_t width(std::uint32_t node) const { return std::min(graph_.degree(node), fan_cap_); }

  static constexpr bool kMayBeUnordered = true;

  void look_ahead(const List<Passing>& frontier, std::size_t at) const {
    constexpr std::size_t kOffsets = 8, kEdges = 4;
    if (at + kOffsets < frontier.size()) graph_.prefetch_offsets(frontier[at + kOffsets].node);
    if (at + kEdges < frontier.size()) graph_.prefetch_edges(frontier[at + kEdges].node);
  }

  // The targets are known only once a row was checked and copied.
  template <typename CellOf>
  void look_at_targets(const List<Passing>& /*frontier*/, std::size_t /*at*/, CellOf) const {}

 private:
  const Adjacency& graph_;
  std::size_t fan_cap_;
  OutEdges row_;
};

}  // namespace ebb
