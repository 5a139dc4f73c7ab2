#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// The value of an option that every command takes, given as "--option VALUE" or "--option=VALUE": taken out of the words; the last
// one where there are several. Fails where the value is missing.
Outcome<std::optional<std::string>> take_option(std::vector<std::string>& words, std::string_view option);

}  // namespace warpfold::cli
