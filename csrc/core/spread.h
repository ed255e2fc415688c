// Spreading activation: what the seeds bring up through links.
//
// A node that at least `threshold` reached at one hop passes (that * hop_decay * weight) along
// each of its edges at the next; what reaches a node adds up over the hops and is capped at 1.
// Within a hop nodes pass in ascending order of number, an edge of a node after its heavier ones,
// and sums are double in that order, so a call gives the same bits every time, whichever form the
// graph has. Time follows the edges that are looked at, not the size of the graph. Reads only:
// any number of threads may spread over one graph, each with a scratch of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/column.h"
#include "core/csr.h"
#include "core/link_rows.h"
#include "core/span.h"
#include "core/spread_rules.h"
#include "core/spread_scratch.h"

namespace ebb {

// What activation starts from, and which nodes take part in it.
struct Seeds {
  Span<const std::int64_t> nodes;
  Span<const double> activation;
  RowMask mask;  // nodes masked out neither receive nor pass
};

// One entry per reached node: higher activation first, then lower number.
struct Activation {
  Column<std::int64_t> nodes;
  Column<double> activation;
  // The node that gave the largest single contribution at the hop of first arrival (the lowest
  // number among equals), and that hop, from 1. A parent was itself reached at an earlier hop or
  // is a seed, so following parents until hop 1 leads to a seed.
  Column<std::int64_t> parent;
  Column<std::int32_t> hop;
};

// Both throw ValueError for rules outside their ranges, seeds outside the graph or named twice,
// activation that is negative or not finite, a graph of 2^32 nodes or more, and a faulty row.
Activation spread(const Adjacency& graph, const Seeds& seeds, const SpreadRules& rules,
                  SpreadScratch& scratch);

// Over `nodes` nodes, at least those that the links name.
Activation spread(const LinkRows& links, std::size_t nodes, const Seeds& seeds,
                  const SpreadRules& rules, SpreadScratch& scratch);

}  // namespace ebb
