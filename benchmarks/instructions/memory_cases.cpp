// What is done with rows and strengths: scans, columns, searches that forget.
#include <memory>

#include "cases.h"
#include "core/arena.h"
#include "core/decay.h"
#include "core/faded_scan.h"
#include "core/scan.h"

namespace counted {

namespace {

constexpr std::size_t kRows = 4096;
constexpr std::size_t kDim = 256;
constexpr std::int64_t kHourUs = 3'600'000'000;

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

std::vector<float> narrowed(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

Work float_retention() {
  return [anchor = narrowed(column(25, 0.5, 1.0)), idle = narrowed(column(26, 0.0, 2000.0)),
          rate = narrowed(column(27, 0.001, 0.01)), out = std::vector<float>(kRows)]() mutable {
    ebb::exponential_retention({anchor.data(), kRows}, {idle.data(), kRows}, {rate.data(), kRows},
                               out.data());
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

// Rows in order of time, 64 queries: one alone would measure mostly how it begins.
Work faded() {
  const auto fading = std::make_shared<ebb::Fading>(kHourUs);
  const std::vector<double> importance = column(33, 1.0, 10.0);
  std::vector<std::int64_t> since_us(kRows);
  for (std::size_t i = 0; i < kRows; ++i) since_us[i] = static_cast<std::int64_t>(i) * kHourUs;
  fading->append({span(importance), {since_us.data(), kRows}, {}});
  return [arena = filled(), fading, rows = unit_rows(64, kDim, 34)] {
    const auto now_us = static_cast<std::int64_t>(kRows) * kHourUs;
    ebb::top_faded(*arena, *fading, {rows.data(), 64, kDim}, {now_us, 0.01}, best_ten());
  };
}

}  // namespace

Cases memory_cases() {
  return {
      {"append 4096 x 256 rows", fill},
      {"top 10 of 4096 x 256", [] { return scan(1); }},
      {"top 10 of 4096 x 256, 16 queries", [] { return scan(16); }},
      {"top 10 of 4096 x 256 by product", product},
      {"top 10 of 4096 x 256, fading, 64 queries", faded},
      {"exponential retention of 4096", retention},
      {"exponential retention of 4096, float32", float_retention},
      {"log weights of 4096", weights},
      {"power retention of 4096", power},
  };
}

}  // namespace counted
