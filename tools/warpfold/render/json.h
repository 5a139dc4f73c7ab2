#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace warpfold::cli {

std::string json_number(double number);  // the shortest digits that read back as the same number

// Returns a message as JSON: the schema's own field names, two spaces per level, a newline at the end. Fields without presence and
// lists are always written; optional fields and groups only if they are set. Unlike in protobuf's own mapping, 64-bit integers are
// numbers, as jq and pandas expect. Enums are names.
std::string to_json(const google::protobuf::Message& message);

}  // namespace warpfold::cli
