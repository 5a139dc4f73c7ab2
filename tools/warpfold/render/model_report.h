#pragma once

#include <string>

#include "configs/result.pb.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

// Renders the limiter model's result: as tables for people, as JSON, or as CSV with a row for each limiter of each kernel.
std::string render_model(const configs::Result& result, Format format);

}  // namespace warpfold::cli
