// What is done with links: spreading over them, adding one by one.
#include <memory>

#include "cases.h"
#include "core/csr.h"
#include "core/link_graph.h"
#include "core/spread.h"

namespace counted {

namespace {

constexpr std::size_t kNodes = 4096;
constexpr std::size_t kDegree = 10;

struct Links {
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int32_t> indices;
  std::vector<float> weights;

  Links() {
    Numbers numbers(32);
    for (std::size_t node = 0; node < kNodes; ++node) {
      for (std::size_t i = 0; i < kDegree; ++i) {
        const std::size_t target = numbers.below(1 + numbers.below(kNodes));
        indices.push_back(static_cast<std::int32_t>(target == node ? (node + 1) % kNodes : target));
        weights.push_back(static_cast<float>(1 + numbers.below(100)) / 100.0f);
      }
      indptr.push_back(static_cast<std::int64_t>(indices.size()));
    }
  }
};

std::shared_ptr<ebb::LinkGraph> linked() {
  const auto graph = std::make_shared<ebb::LinkGraph>(std::vector<bool>{true});
  const Links links;
  std::vector<std::int64_t> sources, targets(links.indices.begin(), links.indices.end());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    sources.push_back(static_cast<std::int64_t>(i / kDegree));
  }
  const std::vector<std::uint8_t> kinds(targets.size(), 0);
  graph->add({{sources.data(), sources.size()},
              {targets.data(), targets.size()},
              {kinds.data(), kinds.size()},
              {links.weights.data(), links.weights.size()}});
  return graph;
}

Work add() {
  return [graph = linked()] {
    Numbers numbers(35);
    for (std::size_t i = 0; i < 1000; ++i) {
      const auto source = static_cast<std::int64_t>(numbers.below(kNodes));
      const std::int64_t target = (source + 1) % static_cast<std::int64_t>(kNodes);
      const std::uint8_t kind = 0;
      const float weight = 0.5f;
      graph->add({{&source, 1}, {&target, 1}, {&kind, 1}, {&weight, 1}}, true);
    }
  };
}

constexpr std::int64_t kSeeds[] = {3, 400, 1200, 2500, 4000};
constexpr double kActivation[] = {1.0, 0.9, 0.8, 0.7, 0.6};
const ebb::Seeds kStart{{kSeeds, 5}, {kActivation, 5}, {}};

ebb::SpreadRules rules() {
  ebb::SpreadRules made;
  made.threshold = 0.01;
  made.fan_cap = 64;
  made.fan_normalise = true;
  return made;
}

Work spread() {
  const auto graph = linked();
  return [graph] { graph->spread(kNodes, kStart, rules()); };
}

Work spread_matrix() {
  return [links = Links(), scratch = std::make_shared<ebb::SpreadScratch>()] {
    const ebb::CsrView<std::int64_t, std::int32_t, float> graph(
        {links.indptr.data(), links.indptr.size()}, {links.indices.data(), links.indices.size()},
        {links.weights.data(), links.weights.size()});
    ebb::spread(graph, kStart, rules(), *scratch);
  };
}

}  // namespace

Cases link_cases() {
  return {
      {"spread 5 seeds, 3 hops, 4096 nodes", spread},
      {"the same over a matrix", spread_matrix},
      {"add 1000 links one by one", add},
  };
}

}  // namespace counted
