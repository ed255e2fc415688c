// What is done with rows, strengths and links: scans, columns, spreading.
#include <memory>

#include "cases.h"
#include "core/arena.h"
#include "core/csr.h"
#include "core/decay.h"
#include "core/scan.h"
#include "core/spread.h"

namespace counted {

namespace {

constexpr std::size_t kRows = 4096;
constexpr std::size_t kDim = 256;
constexpr std::size_t kNodes = 4096;
constexpr std::size_t kDegree = 10;

std::shared_ptr<ebb::Arena> filled() {
  const auto arena = std::make_shared<ebb::Arena>(kDim);
  arena->append(unit_rows(kRows, kDim, 21).data(), kRows);
  return arena;
}

ebb::Selection best_ten() {
  ebb::Selection selection;
  selection.k = 10;
  return selection;
}

Work fill() {
  return [arena = std::make_shared<ebb::Arena>(kDim), rows = unit_rows(kRows, kDim, 21)] {
    arena->append(rows.data(), kRows);
  };
}

Work scan(std::size_t queries) {
  return [arena = filled(), queries, rows = unit_rows(queries, kDim, 22)] {
    ebb::top_affine(*arena, {rows.data(), queries, kDim}, {}, {}, best_ten());
  };
}

std::vector<double> column(std::uint64_t seed, double from, double to) {
  Numbers numbers(seed);
  std::vector<double> values(kRows);
  for (double& value : values) {
    value = from + (to - from) * static_cast<double>(numbers.below(10001)) / 10000.0;
  }
  return values;
}

ebb::Span<const double> span(const std::vector<double>& values) {
  return {values.data(), values.size()};
}

Work product() {
  return [arena = filled(), query = unit_rows(1, kDim, 23), weights = column(24, -20.0, 2.0)] {
    ebb::top_product(*arena, {query.data(), 1, kDim}, span(weights), best_ten());
  };
}

Work retention() {
  return [anchor = column(25, 0.5, 1.0), idle = column(26, 0.0, 2000.0),
          rate = column(27, 0.001, 0.01), out = std::vector<float>(kRows)]() mutable {
    ebb::exponential_retention(span(anchor), span(idle), span(rate), out.data());
  };
}

Work weights() {
  return [importance = column(28, 1.0, 10.0), age = column(29, 0.0, 2000.0),
          out = std::vector<double>(kRows)]() mutable {
    ebb::log_weights(span(importance), span(age), 0.01, out.data());
  };
}

Work power() {
  return [elapsed = column(30, 0.0, 2000.0), stability = column(31, 24.0, 720.0),
          out = std::vector<double>(kRows)]() mutable {
    ebb::power_retention(span(elapsed), span(stability), 0.1542, out.data());
  };
}

struct Links {
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int32_t> indices;
  std::vector<float> weights;

  Links() {
    Numbers numbers(32);
    for (std::size_t node = 0; node < kNodes; ++node) {
      for (std::size_t i = 0; i < kDegree; ++i) {
        indices.push_back(static_cast<std::int32_t>(numbers.below(1 + numbers.below(kNodes))));
        weights.push_back(static_cast<float>(1 + numbers.below(100)) / 100.0f);
      }
      indptr.push_back(static_cast<std::int64_t>(indices.size()));
    }
  }
};

Work spread() {
  return [links = Links()] {
    const ebb::CsrView<std::int64_t, std::int32_t, float> graph(
        {links.indptr.data(), links.indptr.size()}, {links.indices.data(), links.indices.size()},
        {links.weights.data(), links.weights.size()});
    ebb::SpreadRules rules;
    rules.threshold = 0.01;
    rules.fan_cap = 64;
    rules.fan_normalise = true;
    const std::int64_t seeds[] = {3, 400, 1200, 2500, 4000};
    const double activation[] = {1.0, 0.9, 0.8, 0.7, 0.6};
    ebb::SpreadScratch scratch;
    ebb::spread(graph, {{seeds, 5}, {activation, 5}, {}}, rules, scratch);
  };
}

}  // namespace

Cases memory_cases() {
  return {
      {"append 4096 x 256 rows", fill},
      {"top 10 of 4096 x 256", [] { return scan(1); }},
      {"top 10 of 4096 x 256, 16 queries", [] { return scan(16); }},
      {"top 10 of 4096 x 256 by product", product},
      {"exponential retention of 4096", retention},
      {"log weights of 4096", weights},
      {"power retention of 4096", power},
      {"spread 5 seeds, 3 hops, 4096 nodes", spread},
  };
}

}  // namespace counted
