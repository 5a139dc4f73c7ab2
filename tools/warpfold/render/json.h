#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

std::string json_number(double number);  // the shortest digits that read back as the same number

// Returns a message as JSON: the schema's own field names, two spaces per level, a newline at the end. Fields without presence and
// lists are always written; optional fields and groups only if they are set. Unlike in protobuf's own mapping, 64-bit integers are
// numbers, as jq and pandas expect. Enums are names.
std::string to_json(const google::protobuf::Message& message);

// Renders a result: JSON is the message itself, `text` and `csv` make the other formats.
template <typename Result>
std::string rendered(const Result& result, Format format, std::string (*text)(const Result&), std::string (*csv)(const Result&)) {
  if (format == Format::kJson) return to_json(result);
  return format == Format::kTable ? text(result) : csv(result);
}

}  // namespace warpfold::cli
