// Play every scene for some seconds each: stress [SECONDS]
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "core/dispatch.h"
#include "stress/scene.h"

int main(int argument_count, char** arguments) {
  const double seconds = argument_count > 1 ? std::atof(arguments[1]) : 2.0;
  ebb::choose("");
  const stress::Scene scenes[] = {
      stress::arena_scene(),   stress::faded_scene(), stress::fading_scene(),
      stress::lexicon_scene(), stress::links_scene(), stress::postings_scene(),
      stress::workers_scene(), stress::words_scene(), stress::dispatch_scene()};
  try {
    for (const stress::Scene& scene : scenes) stress::play(scene, seconds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stress: %s\n", error.what());
    return 1;
  }
  return 0;
}
