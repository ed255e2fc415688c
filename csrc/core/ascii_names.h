// Names and identifiers in an ASCII text, by how they are written: what ebbmem/naming.py says,
// which tells it of any text.
#pragma once

#include <string>

#include "core/span.h"

namespace ebb {

// As written and without a possessive ending, each once, in order of first occurrence, with a space
// between two.
std::string ascii_names(Span<const char> text);

}  // namespace ebb
