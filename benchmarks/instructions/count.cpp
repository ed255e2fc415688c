// count ISA: names of the cases. count ISA CASE: do that work once, inside `counted_call`, whose
// instructions callgrind collects.
#include <cstdio>
#include <exception>

#include "cases.h"
#include "core/dispatch.h"

extern "C" __attribute__((noinline)) void counted_call(const counted::Work& work) {
  work();
  __asm__ volatile("" ::: "memory");  // no tail call: the work stays inside
}

int main(int argument_count, char** arguments) {
  if (argument_count < 2) return 2;
  try {
    ebb::choose(arguments[1]);
    counted::Cases cases = counted::kernel_cases(ebb::active());
    cases.merge(counted::word_cases());
    cases.merge(counted::memory_cases());
    cases.merge(counted::link_cases());
    if (argument_count > 2) {
      counted_call(cases.at(arguments[2])());
      return 0;
    }
    for (const auto& [name, made] : cases) std::printf("%s\n", name.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "count: %s\n", error.what());
    return 1;
  }
  return 0;
}
