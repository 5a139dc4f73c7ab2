#pragma once

#include <google/protobuf/message.h>

namespace warpfold::configs {

// Puts the fields that `derived` states over those of `merged`. Lists are replaced whole: protobuf's own merge appends, and a list
// could not get shorter.
void merge_over(google::protobuf::Message& merged, const google::protobuf::Message& derived);

}  // namespace warpfold::configs
