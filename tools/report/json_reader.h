#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::report {

// Reads the JSON that this program writes into `message`: field names as in the schema, 64-bit integers as numbers or strings,
// enums by name. Fails with line and column for text that is not JSON, an unknown field (with the nearest known name), a repeated
// field, a value of the wrong type, or a number out of range.
Expected<void> read_json(const std::string& file, std::string_view text, google::protobuf::Message& message);

// Returns the keys of the outermost object, in order; empty if the text is not a JSON object. Nested values are not checked.
std::vector<std::string> top_keys(std::string_view text);

}  // namespace warpfold::report
