#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::report {

// Reads the JSON that this program writes (field names as in the schema, 64-bit integers as numbers or strings, enums by name) into
// `message`. What does not fit is a diagnostic with the line and column: an unknown field with the nearest known one, a
// field that occurs twice, a value of another type, a number out of range, text that is not JSON.
Expected<void> read_json(const std::string& file, std::string_view text, google::protobuf::Message& message);

// The keys of the outermost object, in order; empty where the text is no JSON object. Nothing below them is checked.
std::vector<std::string> top_keys(std::string_view text);

}  // namespace warpfold::report
