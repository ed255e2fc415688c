// What every ranking of an arena's rows takes from Python and gives back.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "bindings/arguments.h"
#include "bindings/crews.h"
#include "bindings/numpy_views.h"
#include "core/fading.h"
#include "core/scan.h"

namespace ebb::bindings {

inline QueryBatch one_query(const py::object& query) {
  const Span<const float> values = vector_view<float>(query, "query");
  return {values.data, 1, values.size};
}

inline QueryBatch query_rows(const py::object& queries) {
  const py::array array = checked_array<float>(queries, "queries", 2);
  return {static_cast<const float*>(array.data()), static_cast<std::size_t>(array.shape(0)),
          static_cast<std::size_t>(array.shape(1))};
}

inline Selection selection_of(const py::object& newness, const py::object& mask,
                              const py::object& k) {
  Selection selection;
  selection.newness = optional_view<std::int64_t>(newness, "newness");
  selection.mask = optional_view<Truth>(mask, "mask");
  selection.k = checked_count(k, "k", 1);
  return selection;
}

inline Selection selection_of(const py::object& newness, const py::object& mask,
                              const py::object& k, const Crew& crew) {
  Selection selection = selection_of(newness, mask, k);
  selection.crew = crew;
  return selection;
}

inline Moment moment_of(const py::object& now_us, const py::object& rate) {
  return {checked_integer(now_us, "now_us"), checked_number(rate, "rate")};
}

inline py::tuple result_of_one(Ranked ranked) {
  return py::make_tuple(to_numpy(std::move(ranked.slots)), to_numpy(std::move(ranked.scores)),
                        to_numpy(std::move(ranked.dots)));
}

inline py::tuple result_of_many(Ranked ranked) {
  return py::make_tuple(to_numpy(std::move(ranked.slots)), to_numpy(std::move(ranked.scores)),
                        to_numpy(std::move(ranked.dots)), to_numpy(std::move(ranked.ends)));
}

}  // namespace ebb::bindings
