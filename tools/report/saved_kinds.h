#pragma once

#include <google/protobuf/message.h>

#include <array>
#include <string_view>

namespace warpfold::report {

// A kind of JSON object that this program writes.
struct SavedKind {
  const google::protobuf::Message* schema;
  std::string_view words;  // "result", without an article
};
// Returns all kinds. If two kinds know equally many fields of an object, the first wins.
const std::array<SavedKind, 6>& saved_kinds();

}  // namespace warpfold::report
