#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::configs {

// Functions that write values, given as text, into plain fields. A value of the wrong type or out of the type's range
// fails.

// Writes the value of a singular field.
Expected<void> write_value(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
                           std::string_view value);
// Appends elements to a list; `values` has commas between them.
Expected<void> add_values(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
                          std::string_view values);

std::vector<std::string> split(std::string_view text, char separator);

}  // namespace warpfold::configs
