// A sparse matrix in compressed rows, read where it lies: row = source, column = target.
//
// The arrays belong to the caller, who may change them at any time. `validate` looks at all of
// them once; `read` checks again what it touches, so that a matrix changed afterwards is refused
// instead of read out of bounds.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "core/errors.h"
#include "core/out_edges.h"
#include "core/prefetch.h"
#include "core/span.h"

namespace ebb {

// What spreading knows of a graph.
class Adjacency {
 public:
  virtual ~Adjacency() = default;
  virtual std::size_t nodes() const = 0;
  // Throws ShapeError or ValueError unless the whole matrix is well formed.
  virtual void validate() const = 0;
  // Replaces `out` by the edges of positive weight of `node` (below nodes()). Throws ValueError.
  virtual void read(std::size_t node, OutEdges& out) const = 0;
  // How many edges of any weight the offsets tell of, checked or not.
  virtual std::size_t degree(std::size_t node) const = 0;
  // For asking ahead: first for where the edges of a node lie, later for the edges.
  virtual void prefetch_offsets(std::size_t node) const = 0;
  virtual void prefetch_edges(std::size_t node) const = 0;
};

template <typename Offset, typename Index, typename Weight>
class CsrView final : public Adjacency {
 public:
  // Throws ShapeError unless there are as many weights as indices and indptr is not empty.
  CsrView(Span<const Offset> indptr, Span<const Index> indices, Span<const Weight> weights)
      : indptr_(indptr), indices_(indices), weights_(weights) {
    if (indptr.empty()) throw ShapeError("indptr", "one value more than nodes", "0 values");
    if (indices.size != weights.size) {
      throw ShapeError("weights", std::to_string(indices.size) + " values",
                       std::to_string(weights.size));
    }
  }

  std::size_t nodes() const override { return indptr_.size - 1; }

  void validate() const override {
    if (indptr_[0] != 0) refuse_offset(indptr_[0]);
    for (std::size_t i = 0; i < nodes(); ++i) {
      if (indptr_[i + 1] < indptr_[i]) refuse_offset(indptr_[i + 1]);
    }
    if (static_cast<std::uint64_t>(indptr_[nodes()]) != indices_.size) {
      refuse_offset(indptr_[nodes()]);
    }
    // Without a branch per element; the culprit is looked for only when there is one.
    bool faulty = false;
    for (const Index target : indices_) faulty |= is_outside(target);
    for (const Weight weight : weights_) faulty |= !is_finite(weight);
    if (!faulty) return;
    for (const Index target : indices_) check_target(target);
    for (const Weight weight : weights_) check_weight(weight);
  }

  void read(std::size_t node, OutEdges& out) const override {
    out.clear();
    const Offset begin = indptr_[node];
    const Offset end = indptr_[node + 1];
    if (begin < 0) refuse_offset(begin);
    if (end < begin || static_cast<std::uint64_t>(end) > indices_.size) refuse_offset(end);
    for (auto e = static_cast<std::size_t>(begin); e < static_cast<std::size_t>(end); ++e) {
      const Index target = indices_[e];
      const Weight weight = weights_[e];
      check_target(target);
      check_weight(weight);
      if (weight > 0) {
        out.add({static_cast<double>(weight), static_cast<std::int64_t>(target)});
      }
    }
    out.finish();
  }

  std::size_t degree(std::size_t node) const override {
    const Offset begin = indptr_[node], end = indptr_[node + 1];
    return begin < end ? static_cast<std::size_t>(end) - static_cast<std::size_t>(begin) : 0;
  }

  void prefetch_offsets(std::size_t node) const override { prefetch(indptr_.data + node); }

  void prefetch_edges(std::size_t node) const override {
    const auto begin = static_cast<std::uint64_t>(indptr_[node]);
    if (begin >= indices_.size) return;
    prefetch(indices_.data + begin);
    prefetch(weights_.data + begin);
  }

 private:
  bool is_outside(Index target) const {
    return target < 0 || static_cast<std::uint64_t>(target) >= nodes();
  }
  static bool is_finite(Weight weight) {
    return std::abs(weight) <= std::numeric_limits<Weight>::max();
  }
  void check_target(Index target) const {
    if (!is_outside(target)) return;
    throw ValueError("indices", "nodes from 0 to below " + std::to_string(nodes()),
                     std::to_string(target));
  }
  void check_weight(Weight weight) const {
    if (!is_finite(weight)) throw ValueError("weights", "finite values", std::to_string(weight));
  }
  [[noreturn]] void refuse_offset(Offset offset) const {
    throw ValueError(
        "indptr",
        "offsets that rise from 0 to " + std::to_string(indices_.size) + " (the number of edges)",
        std::to_string(offset));
  }

  Span<const Offset> indptr_;
  Span<const Index> indices_;
  Span<const Weight> weights_;
};

}  // namespace ebb
