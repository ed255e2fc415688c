// Spreading activation: what the seeds bring up through links.
//
// A node that at least `threshold` reached at one hop passes (that * hop_decay * weight) along
// each of its edges at the next; what reaches a node adds up over the hops and is capped at 1.
// Within a hop nodes pass in ascending order of number and sums are double in that order, so a
// call gives the same bits every time. Time and memory follow the edges that are looked at, not
// the size of the graph: the call's own table of reached nodes is all it allocates, and nothing
// is kept between calls. Reads only, so any number of threads may spread over one graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/csr.h"
#include "core/span.h"

namespace ebb {

struct SpreadRules {
  int depth = 3;           // hops, 0 to 8
  double hop_decay = 0.5;  // in (0, 1]
  double threshold = 0.0;  // finite, >= 0; exactly the threshold passes

  // Edges a node passes over: the heaviest, then the lowest targets. 0: all.
  std::size_t fan_cap = 0;
  // Nodes ever reached: at the hop that goes over it the most activated stay, then the lowest
  // numbers. 0: no cap.
  std::size_t node_cap = 0;
  // Divide the weights of a node by their sum (before the cap) where that is above 1.
  bool fan_normalise = false;
  // Whether seeds are activated through links like any other node.
  bool seeds_receive = true;
};

// One entry per reached node: higher activation first, then lower number.
struct Activation {
  std::vector<std::int64_t> nodes;
  std::vector<double> activation;
  // The node that gave the largest single contribution at the hop of first arrival (the lowest
  // number among equals), and that hop, from 1. A parent was itself reached at an earlier hop or
  // is a seed, so following parents until hop 1 leads to a seed.
  std::vector<std::int64_t> parent;
  std::vector<std::int32_t> hop;
};

// Masked-out nodes neither receive nor pass. Throws ShapeError or ValueError for rules outside
// their ranges, seeds outside the graph or named twice, activation that is negative or not
// finite, and a faulty row of the graph.
Activation spread(const Adjacency& graph, Span<const std::int64_t> seeds,
                  Span<const double> seed_activation, RowMask mask, const SpreadRules& rules);

}  // namespace ebb
