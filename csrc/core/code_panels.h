// Coded queries packed for the kernel that compares 16 of them with each row (dot_tile).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/buffer.h"
#include "core/codes.h"
#include "core/span.h"

namespace ebb {

constexpr std::size_t kPanelQueries = 16;
constexpr int kPanelLevels = 32;

// Writes the codes of one query as place `at` (below kPanelQueries) of a panel.
inline void pack_query(const std::int8_t* codes, std::size_t code_dim, std::size_t at,
                       std::int8_t* panel) {
  for (std::size_t d = 0; d < code_dim; ++d) {
    panel[(d / 4 * kPanelQueries + at) * 4 + d % 4] = codes[d];
  }
}

class CodePanels {
 public:
  // Queries of one code_dim, with at most kPanelLevels levels. The last panel is filled up with
  // zeros.
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
