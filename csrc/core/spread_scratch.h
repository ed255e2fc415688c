// What spreading writes to, kept between calls: unless most nodes are reached, a call clears what
// it touched and nothing else, and neither allocates nor passes over all nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/activation_order.h"
#include "core/buffer.h"
#include "core/list.h"
#include "core/reached.h"

namespace ebb {

struct SpreadScratch {
  // By node: its place in `reached`, or 0. All 0 between calls.
  Buffer<std::uint32_t> places;
  std::vector<Reached> reached;  // in order of discovery, from 1 on
  // By node, while most nodes are reached: `label` is then the hop of first arrival, 0 before it.
  Buffer<Reached> dense;
  // By node: the last row of edges that was looked through for parallel ones and led there. Rows
  // are numbered over all calls; a false alarm after 2^32 of them changes no result.
  std::vector<std::uint32_t> last_row;
  std::uint32_t rows_seen = 0;
  std::vector<std::uint32_t> again;  // places reached at this hop, and at an earlier one
  std::vector<std::uint32_t> fresh;  // places reached at this hop for the first time
  List<Passing> frontier, frontier_room;
  List<RankedPlace> ranked, ranked_room;

  // Makes room for so many nodes. Throws std::bad_alloc.
  void fit(std::size_t nodes) {
    if (nodes > places.size()) places = Buffer<std::uint32_t>(nodes + nodes / 4);
  }

  std::size_t bytes() const {
    return sizeof(*this) + places.size() * sizeof(std::uint32_t) + list_bytes();
  }

  std::size_t list_bytes() const {
    return (reached.capacity() + dense.size()) * sizeof(Reached) +
           (last_row.capacity() + again.capacity() + fresh.capacity()) * sizeof(std::uint32_t) +
           frontier.bytes() + frontier_room.bytes() + ranked.bytes() + ranked_room.bytes();
  }

  // Frees the lists where they take more than `most` bytes.
  void trim(std::size_t most) {
    if (list_bytes() <= most) return;
    SpreadScratch small;
    small.places = std::move(places);
    *this = std::move(small);
  }
};

// The scratch of one graph: each call borrows one. A few are kept, each with at most kMostListBytes
// beside its table of places (4 bytes a node).
class ScratchPool {
 public:
  class Loan {
   public:
    explicit Loan(ScratchPool& pool) : pool_(pool), scratch_(pool.take()) {}
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() { pool_.put_back(std::move(scratch_)); }

    SpreadScratch& operator*() const { return *scratch_; }

   private:
    ScratchPool& pool_;
    std::unique_ptr<SpreadScratch> scratch_;
  };

  static constexpr std::size_t kMostKept = 4;
  static constexpr std::size_t kMostListBytes = std::size_t{16} << 20;

  ScratchPool() { kept_.reserve(kMostKept); }

  // Of what is kept; what is lent is the borrower's.
  std::size_t bytes() const {
    const std::lock_guard<std::mutex> turn(mutex_);
    std::size_t sum = 0;
    for (const auto& scratch : kept_) sum += scratch->bytes();
    return sum;
  }

 private:
  std::unique_ptr<SpreadScratch> take() {
    {
      const std::lock_guard<std::mutex> turn(mutex_);
      if (!kept_.empty()) {
        auto scratch = std::move(kept_.back());
        kept_.pop_back();
        return scratch;
      }
    }
    return std::make_unique<SpreadScratch>();
  }

  void put_back(std::unique_ptr<SpreadScratch> scratch) {
    scratch->trim(kMostListBytes);
    const std::lock_guard<std::mutex> turn(mutex_);
    if (kept_.size() < kMostKept) kept_.push_back(std::move(scratch));
  }

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<SpreadScratch>> kept_;  // the last one put back goes out first
};

}  // namespace ebb
