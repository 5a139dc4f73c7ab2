#pragma once

#include <google/protobuf/text_format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/kernel_launch.pb.h"

namespace warpfold::configs {

inline constexpr size_t kMostLengths = 1'000'000;

// Numbers from 0 to 4294967295 with white space between them; # begins a comment. Fails at file:line:column for any other word, for
// no number at all, and for more than a million.
Expected<std::vector<uint32_t>> parse_lengths(const std::string& file, std::string_view text);

// Fills in the numbers of every answer that names a file, which lies beside `file`, the launch description with these locations.
Expected<void> read_lengths(KernelLaunch& launch, const std::string& file,
                            const google::protobuf::TextFormat::ParseInfoTree& locations);

}  // namespace warpfold::configs
