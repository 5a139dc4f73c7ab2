#pragma once

#include <string>

#include "traces/import/import.h"

namespace warpfold::cli {

// What an import found: the kernel, its roles, their loops and the arrays that it touches.
std::string import_tables(const sass::Imported& imported);

}  // namespace warpfold::cli
