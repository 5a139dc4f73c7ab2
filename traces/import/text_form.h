#pragma once

#include <string>
#include <string_view>

#include "configs/diagnostic.h"

namespace warpfold::sass {

// Fails, at the first line, for what is no text at all: an empty file, a binary such as a cubin, UTF-16.
Expected<void> check_text_form(const std::string& file, std::string_view text);

}  // namespace warpfold::sass
