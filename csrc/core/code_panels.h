// Coded queries packed for the kernel that compares 16 of them with each row (dot_tile).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/buffer.h"
#include "core/codes.h"
#include "core/span.h"

namespace ebb {

constexpr std::size_t kPanelQueries = 16;

// The greatest of what dot_tile may add up in 16 bits (see core/kernel_table.h).
inline int greatest_tile_sum(const CodedQuery& query) {
  int greatest = 0;
  for (std::size_t d = 0; d < query.code_dim(); d += 16) {
    int sums[2] = {};
    for (std::size_t i = 0; i < 16; ++i) sums[i % 4 / 2] += std::abs(int{query.codes()[d + i]});
    greatest = std::max({greatest, sums[0], sums[1]});
  }
  return greatest;
}

// The query that `fine` codes at most levels, at as many levels as `limit` allows, which is at
// least 128.
inline CodedQuery coded_for_panel(const float* query, std::size_t padded_dim,
                                  const CodedQuery& fine, int limit) {
  constexpr int kSafeLevels = 16;
  const int greatest = greatest_tile_sum(fine);
  // Rounding may allow a few levels more than the proportion says, or a few less.
  int levels =
      greatest <= limit ? kMaxLevels : std::max(kSafeLevels, kMaxLevels * (limit + 2) / greatest);
  while (true) {
    CodedQuery coarse(query, padded_dim, fine.code_dim(), levels);
    if (levels <= kSafeLevels || greatest_tile_sum(coarse) <= limit) return coarse;
    --levels;
  }
}

// Writes the codes of one query as place `at` (below kPanelQueries) of a panel.
inline void pack_query(const std::int8_t* codes, std::size_t code_dim, std::size_t at,
                       std::int8_t* panel) {
  for (std::size_t d = 0; d < code_dim; ++d) {
    panel[(d / 4 * kPanelQueries + at) * 4 + d % 4] = codes[d];
  }
}

class CodePanels {
 public:
  // Queries of one code_dim, coded for panels. The last panel is filled up with zeros.
  explicit CodePanels(Span<const CodedQuery> queries)
      : panel_codes_(queries.empty() ? 0 : queries[0].code_dim() * kPanelQueries),
        codes_((queries.size + kPanelQueries - 1) / kPanelQueries * panel_codes_) {
    for (std::size_t q = 0; q < queries.size; ++q) {
      pack_query(queries[q].codes(), queries[q].code_dim(), q % kPanelQueries,
                 codes_.data() + q / kPanelQueries * panel_codes_);
    }
  }

  const std::int8_t* operator[](std::size_t panel) const {
    return codes_.data() + panel * panel_codes_;
  }

 private:
  std::size_t panel_codes_;
  Buffer<std::int8_t> codes_;
};

}  // namespace ebb
