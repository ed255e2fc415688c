// Links lead from a node to the next ones in a ring, and so does what spreads over them.
#include <cstdint>
#include <memory>

#include "core/errors.h"
#include "core/link_graph.h"
#include "stress/scene.h"

namespace stress {

namespace {

constexpr std::size_t kNodes = 500;
constexpr std::size_t kMostLinks = 5000;
constexpr std::size_t kAhead = 3;
constexpr int kHops = 3;

void add(ebb::LinkGraph& graph, Random& random) {
  if (graph.size() >= kMostLinks) return;  // `drop` makes room
  std::vector<std::int64_t> sources, targets;
  std::vector<std::uint8_t> kinds;
  std::vector<float> weights;
  for (std::size_t i = 1 + below(random, 20); i > 0; --i) {
    sources.push_back(static_cast<std::int64_t>(below(random, kNodes - kAhead)));
    targets.push_back(sources.back() + 1 + static_cast<std::int64_t>(below(random, kAhead)));
    kinds.push_back(static_cast<std::uint8_t>(below(random, 2)));
    weights.push_back(static_cast<float>(1 + below(random, 10)) / 10.0f);
  }
  graph.add({{sources.data(), sources.size()},
             {targets.data(), targets.size()},
             {kinds.data(), kinds.size()},
             {weights.data(), weights.size()}});
}

void drop(ebb::LinkGraph& graph, Random& random) {
  const std::int64_t nodes[] = {static_cast<std::int64_t>(below(random, kNodes)),
                                static_cast<std::int64_t>(below(random, kNodes))};
  graph.drop_nodes({nodes, 2});
}

// Each node keeps its number: new rows are built while readers go on.
void renumber(ebb::LinkGraph& graph, Random&) {
  std::vector<std::int64_t> same(kNodes);
  for (std::size_t i = 0; i < same.size(); ++i) same[i] = static_cast<std::int64_t>(i);
  graph.remap({same.data(), same.size()});
}

void spread(const ebb::LinkGraph& graph, Random& random) {
  const std::int64_t seed = static_cast<std::int64_t>(below(random, kNodes));
  const double activation = 1.0;
  ebb::SpreadRules rules;
  rules.depth = kHops;
  rules.fan_normalise = below(random, 2) == 0;
  rules.fan_cap = below(random, 5);
  const ebb::Activation found = graph.spread(kNodes, {{&seed, 1}, {&activation, 1}, {}}, rules);
  for (const std::int64_t node : found.nodes) {
    const std::int64_t steps = node - seed;
    require(steps > 0 && steps <= static_cast<std::int64_t>(kHops * kAhead), "it led elsewhere");
  }
}

void look(const ebb::LinkGraph& graph, Random& random) {
  const auto node = static_cast<std::int64_t>(below(random, kNodes));
  for (const ebb::Link& link : graph.links(node)) {
    require(link.target > node && link.target <= node + static_cast<std::int64_t>(kAhead),
            "a link of another node");
  }
  const ebb::LinkGraph::Matrix matrix = graph.matrix(kNodes);
  require(matrix.indptr.size() == kNodes + 1, "a matrix of another size");
  require(static_cast<std::size_t>(matrix.indptr.back()) == matrix.weights.size(), "torn rows");
  require(graph.nodes() <= kNodes, "more nodes than were named");
  require(graph.bytes() < std::size_t{1} << 30, "too much memory");
}

}  // namespace

Scene links_scene() {
  const auto graph = std::make_shared<ebb::LinkGraph>(std::vector<bool>{true, false});
  return {"links",
          {{"add", [graph](Random& random) { add(*graph, random); }},
           {"drop", [graph](Random& random) { drop(*graph, random); }},
           {"renumber", [graph](Random& random) { renumber(*graph, random); }},
           {"spread", [graph](Random& random) { spread(*graph, random); }},
           {"spread", [graph](Random& random) { spread(*graph, random); }},
           {"look", [graph](Random& random) { look(*graph, random); }}}};
}

}  // namespace stress
