// Callers share a pool that somebody closes now and then: each gets all of its own work done once,
// and the exception of its first part that fails.
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/workers.h"
#include "stress/scene.h"

namespace stress {

namespace {

struct Failed {
  std::size_t part;
};

struct Office {
  std::mutex renewing;
  std::shared_ptr<ebb::Workers> workers = std::make_shared<ebb::Workers>(3);

  std::shared_ptr<ebb::Workers> current() {
    const std::lock_guard<std::mutex> held(renewing);
    return workers;
  }

  void call(Random& random) {
    const std::shared_ptr<ebb::Workers> own = current();
    const std::size_t count = below(random, 40), threads = 1 + below(random, 6);
    std::vector<int> done(count, 0);
    own->run(count, threads, [&](std::size_t part) { ++done[part]; });
    for (const int times : done) require(times == 1, "a part was not done exactly once");
  }

  void fail(Random& random) {
    const std::shared_ptr<ebb::Workers> own = current();
    const std::size_t count = 2 + below(random, 40), first = below(random, count);
    std::size_t thrown = count;
    try {
      own->run(count, 1 + below(random, 6), [&](std::size_t part) {
        if (part >= first) throw Failed{part};
      });
    } catch (const Failed& failed) {
      thrown = failed.part;
    }
    require(thrown == first, "another exception than the first came out");
  }

  void renew() {
    const std::shared_ptr<ebb::Workers> old = current();
    old->close();
    require(old->started() == 0, "a thread was left");
    const std::lock_guard<std::mutex> held(renewing);
    workers = std::make_shared<ebb::Workers>(3);
  }
};

}  // namespace

Scene workers_scene() {
  const auto office = std::make_shared<Office>();
  const auto call = [office](Random& random) { office->call(random); };
  return {"workers",
          {{"call", call},
           {"call", call},
           {"fail", [office](Random& random) { office->fail(random); }},
           {"renew", [office](Random&) { office->renew(); }}}};
}

}  // namespace stress
