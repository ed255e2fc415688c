// Work of independent parts, split over threads.
//
// The parts are contiguous and fixed by `count` and `threads` alone, and each writes results of
// its own, so that the outcome does not depend on how many threads there are or on who runs first.
// There is no pool: threads live as long as the call, and a fork finds none.
#pragma once

#include <cstddef>
#include <functional>

namespace ebb {

// One part of [0, count), not empty.
struct Part {
  std::size_t begin;
  std::size_t end;
};

// Runs work(part) for the parts that cover [0, count), as many as there are threads and work for
// them, the first on the caller's own thread. Where the system gives no further thread the caller
// does the part itself. Returns when all parts are done; of the exceptions thrown, the one of the
// first part comes out.
void for_parts(std::size_t count, std::size_t threads, const std::function<void(Part)>& work);

}  // namespace ebb
