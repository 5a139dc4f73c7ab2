#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

#include "configs/diagnostic.h"

namespace warpfold::configs {

// Sets one field of a message, named by a path such as "kernel.rng.philox.rounds" or "kernel[0].philox.rounds": elements of a
// repeated group are named by index or by their `name` (reservations: `kernel`). A list of plain values is given whole, with
// commas. Unknown names (with a near miss), values of the wrong type or out of the type's range, and a workload other than
// the kernel's own fail. Returns the path with indices.
Expected<std::string> set_field(google::protobuf::Message& root, std::string_view path, std::string_view value);

}  // namespace warpfold::configs
