// What the core can refuse. Bindings translate each class once (bindings/errors.cpp).
#pragma once

#include <stdexcept>
#include <string>

namespace ebb {

// An argument of the wrong length or dimension.
class ShapeError : public std::invalid_argument {
 public:
  ShapeError(const std::string& argument, const std::string& expected, const std::string& got)
      : std::invalid_argument(argument + ": expected " + expected + ", got " + got) {}
};

// An argument of the right shape with a value that is not allowed (NaN, range, unknown slot).
class ValueError : public std::invalid_argument {
 public:
  ValueError(const std::string& argument, const std::string& expected, const std::string& got)
      : std::invalid_argument(argument + ": expected " + expected + ", got " + got) {}
};

// EBBMEM_ISA names an instruction set that is unknown or that this machine lacks.
class UnknownIsa : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace ebb
