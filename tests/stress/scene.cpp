#include "stress/scene.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace stress {

namespace {

// The first exception of any thread, and whether all are to end.
struct Ending {
  std::atomic<bool> now{false};
  std::mutex lock;
  std::string what;

  void fail(const std::string& reason) {
    const std::lock_guard<std::mutex> held(lock);
    if (what.empty()) what = reason;
    now = true;
  }
};

void repeat(const Act& act, unsigned seed, Ending& ending, std::size_t& count) {
  Random random(seed);
  try {
    while (!ending.now || count == 0) {
      act.once(random);
      ++count;
    }
  } catch (const std::exception& error) {
    ending.fail(act.name + ": " + error.what());
  }
}

}  // namespace

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

std::size_t below(Random& random, std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
}

void play(const Scene& scene, double seconds) {
  Ending ending;
  std::vector<std::size_t> counts(scene.acts.size(), 0);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < scene.acts.size(); ++i) {
    threads.emplace_back(
        [&, i] { repeat(scene.acts[i], static_cast<unsigned>(i + 1), ending, counts[i]); });
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!ending.now && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ending.now = true;
  for (std::thread& thread : threads) thread.join();
  if (!ending.what.empty()) throw std::logic_error(scene.name + ", " + ending.what);
  std::printf("%s:", scene.name.c_str());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    std::printf(" %s %zu", scene.acts[i].name.c_str(), counts[i]);
  }
  std::printf("\n");
}

}  // namespace stress
