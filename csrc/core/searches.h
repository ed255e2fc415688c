// Rankings of any number of indexes, made in one call and split over threads.
//
// Each search looks at an index of its own choice, under that index's own lock, and writes a
// result of its own: so the results are those of making them one after the other, whatever the
// number of threads. Not for use by several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/workers.h"

namespace ebb {

// Slots, best first, and a value of each: a score or a cosine, as the search has it.
struct Ranking {
  std::vector<std::int64_t> slots;
  std::vector<double> values;
};

// Rankings one after the other; ends[s] is where that of search s ends.
struct Rankings {
  std::vector<std::int64_t> slots;
  std::vector<double> values;
  std::vector<std::int64_t> ends;
};

class Searches {
 public:
  // `search` may run in any thread; what it looks at has to stay until it was run.
  void add(std::function<Ranking()> search) { searches_.push_back(std::move(search)); }

  std::size_t size() const { return searches_.size(); }

  // Runs every search. Of the exceptions thrown that of the first search comes out (workers.h).
  Rankings run(const Crew& crew) const;

 private:
  std::vector<std::function<Ranking()>> searches_;
};

}  // namespace ebb
