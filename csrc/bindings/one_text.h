// The word counts of one text, as Python gives them.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>

#include "bindings/numpy_views.h"
#include "core/word_vectors.h"

namespace ebb::bindings {

class OneText {
 public:
  OneText(const py::object& buckets, const py::object& counts)
      : buckets_(buckets, "buckets"),
        counts_(counts, "counts"),
        end_{static_cast<std::int64_t>(buckets_.size())} {}

  // Valid as long as this is.
  WordCounts counts() const { return {buckets_, counts_, {end_.data(), 1}}; }

 private:
  Copied<std::uint32_t> buckets_;
  Copied<std::int32_t> counts_;
  std::array<std::int64_t, 1> end_;
};

}  // namespace ebb::bindings
