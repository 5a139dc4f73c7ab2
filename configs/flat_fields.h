#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <vector>

namespace warpfold::configs {

struct FlatField {
  std::string path;   // "sm.tensor.scale"
  std::string value;  // as text format writes it
};

// The plain fields that a message without lists states, groups resolved, in the schema's order.
std::vector<FlatField> flat_fields(const google::protobuf::Message& message);

}  // namespace warpfold::configs
