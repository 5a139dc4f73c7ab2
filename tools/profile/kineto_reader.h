#pragma once

#include <memory>
#include <string>

#include "configs/diagnostic.h"
#include "tools/profile/profile.h"
#include "traces/accelsim/byte_source.h"

namespace warpfold::profile {

// Reads a trace of torch.profiler (Kineto) in Chrome's format, plain or compressed (gzip, xz, zstd), in one pass. Events are not
// kept: memory grows with launches, operators and calls of CUDA's runtime (24 to 48 bytes each) and with distinct kernels, not with
// the file. Fails, with line and column, if the trace is damaged, truncated or without a kernel.
Expected<Profile> read_kineto(const std::string& path);
// Reads a trace from a source of bytes; messages call it `file`.
Expected<Profile> read_kineto(const std::string& file, std::unique_ptr<traces::accelsim::ByteSource> bytes);

}  // namespace warpfold::profile
