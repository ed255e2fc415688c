#include "core/parallel.h"

#include <algorithm>

namespace ebb {

void for_parts(std::size_t count, const Crew& crew, const std::function<void(Part)>& work) {
  const std::size_t parts = std::min(count, std::max<std::size_t>(crew.threads, 1));
  // Part p begins where p * count / parts does, without the product, which might overflow.
  const auto begin = [&](std::size_t p) {
    return p * (count / parts) + std::min(p, count % parts);
  };
  crew.run(parts, [&](std::size_t p) { work({begin(p), begin(p + 1)}); });
}

}  // namespace ebb
