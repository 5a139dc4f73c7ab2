#pragma once

#include <string>

#include "configs/report.pb.h"
#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// Writes the page of a report (tools/report/page.h) to a file, as write_output does.
Outcome<void> write_html(const std::string& path, const configs::Report& report);

}  // namespace warpfold::cli
