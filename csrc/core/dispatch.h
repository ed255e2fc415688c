// Which kernel table is in use. Chosen once, when the module is imported.
#pragma once

#include <string>
#include <vector>

#include "core/kernel_table.h"

namespace ebb {

// The table in use. `choose` must have been called.
const KernelTable& active();

// Put a table in use: the one called `name`, or the best this machine runs when `name` is
// empty. Throws UnknownIsa, which lists the names this machine runs.
void choose(const std::string& name);

// The table called `name`, whether in use or not. Throws UnknownIsa.
const KernelTable& find(const std::string& name);

// Names of the tables this machine runs, best first.
std::vector<std::string> names();

}  // namespace ebb
