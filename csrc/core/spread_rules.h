// How activation spreads.
#pragma once

#include <cstddef>

namespace ebb {

struct SpreadRules {
  static constexpr int kMaxDepth = 8;

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

}  // namespace ebb
