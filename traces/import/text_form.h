#pragma once

#include <string>
#include <string_view>

#include "configs/diagnostic.h"

namespace warpfold::sass {

// Fails, at the first line, if the file is no text: empty, a binary such as a cubin, or UTF-16.
Expected<void> check_text_form(const std::string& file, std::string_view text);

}  // namespace warpfold::sass
