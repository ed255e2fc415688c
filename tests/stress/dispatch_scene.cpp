// Kernels give the same bits on every table, so a call does not see that another table is chosen.
#include "core/dispatch.h"
#include "stress/scene.h"

namespace stress {

namespace {

void choose_any(Random& random) {
  const std::vector<std::string> known = ebb::names();
  ebb::choose(known[below(random, known.size())]);
}

void dot(Random& random) {
  std::vector<float> row(2 * ebb::kLanes, 0.0f);
  row[below(random, row.size())] = 1.0f;
  float found = 0.0f;
  ebb::active().dot_rows(row.data(), row.data(), row.size(), 1, row.size(), &found);
  require(found == 1.0f, "a dot of an axis with itself that is not 1");
}

}  // namespace

Scene dispatch_scene() {
  return {"dispatch", {{"choose", choose_any}, {"dot", dot}, {"dot", dot}}};
}

}  // namespace stress
