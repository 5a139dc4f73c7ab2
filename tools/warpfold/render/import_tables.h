#pragma once

#include <string>
#include <vector>

#include "traces/import/import.h"

namespace warpfold::cli {

// Returns the findings of an import as tables: the kernel, its roles, their loops and the arrays that it touches.
std::string import_tables(const sass::Imported& imported);

// Returns the questions of an import as text that can be pasted into a launch description.
std::string questions_text(const std::vector<std::string>& questions);

}  // namespace warpfold::cli
