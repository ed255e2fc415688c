// What every ranking refuses: arrays of another length than it needs, and NaN or infinity in them.
#pragma once

#include <cstddef>
#include <string>

#include "core/errors.h"
#include "core/finite.h"
#include "core/scan.h"

namespace ebb {

inline void check_length(std::size_t length, std::size_t rows, const char* argument) {
  if (length == rows) return;
  throw ShapeError(argument, std::to_string(rows) + " values, one per slot",
                   std::to_string(length));
}

inline void check_selection(const Selection& selection, std::size_t rows) {
  if (selection.newness) check_length(selection.newness->size, rows, "newness");
  if (selection.mask) check_length(selection.mask->size, rows, "mask");
}

inline void check_queries(const Arena& arena, const QueryBatch& queries) {
  if (queries.dim != arena.dim()) {
    throw ShapeError("query", std::to_string(arena.dim()) + " values", std::to_string(queries.dim));
  }
  check_finite(Span<const float>{queries.data, queries.count * queries.dim}, "query");
}

// Its values, or null for an absent one.
inline const double* checked_column(const Column& column, std::size_t rows, const char* argument) {
  if (!column) return nullptr;
  check_length(column->size, rows, argument);
  check_finite(*column, argument);
  return column->data;
}

}  // namespace ebb
