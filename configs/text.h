#pragma once

#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <string>
#include <string_view>

#include "configs/diagnostic.h"

namespace warpfold::configs {

// parse_text (load.h) that also says where each value stands, for diagnostics about what the values mean.
// Positions in `locations` count from 0.
Expected<void> parse_located_text(const std::string& file, std::string_view text, google::protobuf::Message& message,
                                  google::protobuf::TextFormat::ParseInfoTree& locations);

}  // namespace warpfold::configs
