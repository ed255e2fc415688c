// The links of one scope, shared by threads: any number of readers or one writer.
//
// The lock is inside and is to be taken after the interpreter's own is released. A call sees one
// state of the links from its first look to its last. Every change is all or nothing: when memory
// runs out or an argument is refused, the graph is as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/fair_lock.h"
#include "core/link_rows.h"
#include "core/span.h"
#include "core/spread.h"

namespace ebb {

class LinkGraph {
 public:
  // Rows in order of addition, without the links whose kind carries no activation.
  struct Matrix {
    std::uint64_t version = 0;
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<float> weights;
  };

  // carries[kind]: whether links of a kind count when spreading. Throws ValueError for more than
  // LinkRows::kMostKinds.
  explicit LinkGraph(std::vector<bool> carries);

  // Throws ShapeError or ValueError, which names the column: "sources", or "source" for a single
  // link.
  void add(const LinkColumns& links, bool single = false);
  // Lets the links that leave each of the slots be those given, all of which leave one of them.
  // Throws ShapeError or ValueError.
  void replace(Span<const std::int64_t> slots, const LinkColumns& links);
  // Takes away every link that leaves or reaches one of the slots; returns how many.
  std::size_t drop_nodes(Span<const std::int64_t> slots);
  // Renumbers the slots: slot s becomes old_to_new[s], or goes with its links where that is -1.
  // Throws ShapeError or ValueError. Readers go on while the new rows are built.
  void remap(Span<const std::int64_t> old_to_new);

  std::size_t size() const;
  std::size_t nodes() const;
  std::size_t bytes() const;
  // Grows with every change.
  std::uint64_t version() const;

  std::vector<Link> links(std::int64_t slot) const;
  // Over `size` slots. Throws ValueError where a link names a slot beyond.
  Matrix matrix(std::size_t size) const;
  Activation spread(std::size_t size, const Seeds& seeds, const SpreadRules& rules) const;

 private:
  const std::size_t kinds_;  // of the rows, whose own number moves with them
  std::mutex writer_;        // one writer at a time; taken before lock_
  mutable FairLock lock_;    // shared by readers; exclusive while a change becomes visible
  LinkRows rows_;
  std::uint64_t version_ = 0;
  mutable ScratchPool scratches_;
};

}  // namespace ebb
