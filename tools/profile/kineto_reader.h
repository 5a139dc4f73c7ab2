#pragma once

#include <memory>
#include <string>

#include "configs/diagnostic.h"
#include "tools/profile/profile.h"
#include "traces/accelsim/byte_source.h"

namespace warpfold::profile {

// Reads a trace of torch.profiler (Kineto) in Chrome's format, as it is or compressed (gzip, xz, zstd), in one pass. Events are
// forgotten once read: memory grows with launches, operators and calls of CUDA's runtime (24 to 48 bytes each) and with distinct
// kernels, not with the file. A trace that is damaged, cut short or without a kernel fails, with line and column.
Expected<Profile> read_kineto(const std::string& path);
// The same of bytes; `file` names them in messages.
Expected<Profile> read_kineto(const std::string& file, std::unique_ptr<traces::accelsim::ByteSource> bytes);

}  // namespace warpfold::profile
