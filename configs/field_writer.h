#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::configs {

// Writes values that are given as text into plain fields. A value of the wrong type or out of the type's range fails.

// A singular field's value.
Expected<void> write_value(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
                           std::string_view value);
// Elements behind those that a list has, with commas between them.
Expected<void> add_values(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
                          std::string_view values);

std::vector<std::string> split(std::string_view text, char separator);

}  // namespace warpfold::configs
