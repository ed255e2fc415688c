// A scene: several threads do things to one structure at the same time, over and over.
//
// Built with -fsanitize=thread by .ci/stress, which fails on a data race, on a broken promise
// (`require`) and on a thread that never got its turn.
#pragma once

#include <cstddef>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace stress {

using Random = std::mt19937;

// What one thread repeats until the scene ends.
struct Act {
  std::string name;
  std::function<void(Random&)> once;
};

struct Scene {
  std::string name;
  std::vector<Act> acts;
};

// Throws std::logic_error with `what` unless `holds`.
void require(bool holds, const char* what);

// One thread per act, for `seconds`. Rethrows the first exception, with the act's name; throws
// when an act did not run at all. Prints how often each ran.
void play(const Scene& scene, double seconds);

// A number from 0 to below `limit`.
std::size_t below(Random& random, std::size_t limit);

Scene arena_scene();
Scene faded_scene();
Scene fading_scene();
Scene lexicon_scene();
Scene links_scene();
Scene postings_scene();
Scene words_scene();
Scene workers_scene();
Scene dispatch_scene();

}  // namespace stress
