// A region of code compiled for one instruction set. System headers are included before it is
// opened, so that no standard-library function is compiled with vector instructions that the
// linker might then pick for the whole program.
#pragma once

#if defined(__clang__)
#define EBB_PRAGMA(text) _Pragma(#text)
#define EBB_TARGET_BEGIN(isa) \
  EBB_PRAGMA(clang attribute push(__attribute__((target(isa))), apply_to = function))
#define EBB_TARGET_END _Pragma("clang attribute pop")
#else
#define EBB_PRAGMA(text) _Pragma(#text)
#define EBB_TARGET_BEGIN(isa) _Pragma("GCC push_options") EBB_PRAGMA(GCC target(isa))
#define EBB_TARGET_END _Pragma("GCC pop_options")
#endif
