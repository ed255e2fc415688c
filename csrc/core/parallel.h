// Work on a range, cut into contiguous parts.
//
// The parts are fixed by `count` and the number of threads alone, and each writes results of its
// own, so that the outcome does not depend on how many threads there are or on who runs first.
#pragma once

#include <cstddef>
#include <functional>

#include "core/workers.h"

namespace ebb {

// One part of [0, count), not empty.
struct Part {
  std::size_t begin;
  std::size_t end;
};

// Runs work(part) for the parts that cover [0, count), as many as the crew has threads and there
// is work for them; as Workers::run.
void for_parts(std::size_t count, const Crew& crew, const std::function<void(Part)>& work);

}  // namespace ebb
