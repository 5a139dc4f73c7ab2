#pragma once

#include <google/protobuf/message.h>

#include <array>
#include <string_view>

namespace warpfold::report {

// A JSON object that this program writes.
struct SavedKind {
  const google::protobuf::Message* schema;
  std::string_view words;  // "result", without its article
};
// All of them. Of equally many known fields the first counts.
const std::array<SavedKind, 6>& saved_kinds();

}  // namespace warpfold::report
