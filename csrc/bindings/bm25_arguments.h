// What every ranking by BM25 takes from Python.
#pragma once

#include <pybind11/pybind11.h>

#include "bindings/arguments.h"
#include "bindings/numpy_views.h"
#include "core/postings.h"

namespace ebb::bindings {

inline Bm25 rule_of(const py::object& k1, const py::object& b) {
  return {checked_number(k1, "k1"), checked_number(b, "b")};
}

inline Near near_of(const py::object& count, const py::object& share, const py::object& spare) {
  return {checked_count(count, "count", 0), checked_number(share, "share"),
          checked_number(spare, "spare")};
}

// Lengths are checked by the core, against the state of the index the ranking will see.
inline Bm25Query query_of(const Bm25& rule, const py::object& newness, const py::object& mask,
                          const py::object& k, const py::object& limit) {
  Bm25Query query;
  query.rule = rule;
  query.k = static_cast<std::int64_t>(checked_count(k, "k", 1));
  if (!newness.is_none()) query.newness = vector_view<std::int64_t>(newness, "newness");
  if (!mask.is_none()) {
    const auto view = vector_view<Truth>(mask, "mask");
    query.mask = {view.data, view.size};
  }
  if (!limit.is_none()) query.limit = static_cast<std::int64_t>(checked_count(limit, "limit", 0));
  return query;
}

}  // namespace ebb::bindings
