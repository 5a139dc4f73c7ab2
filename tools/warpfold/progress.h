#pragma once

#include <string>

namespace warpfold::cli {

// Says on stderr what is being done, where somebody looks at a terminal; silent in a pipe.
void report_progress(const std::string& what);

}  // namespace warpfold::cli
