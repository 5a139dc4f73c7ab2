#include "tools/warpfold/figures/content_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <iomanip>
#include <sstream>

#include "traces/trace_file.h"

namespace warpfold::cli {

std::string kernel_hash(const traces::Kernel& kernel) {
  traces::Kernel run = kernel;
  for (traces::MemoryStream& stream : run.streams) stream.footprint = 0;
  return content_hash(traces::format_kernels({run}));
}

std::string content_hash(const std::string& bytes) {
  std::ostringstream digits;
  digits << std::hex << std::setw(16) << std::setfill('0') << XXH64(bytes.data(), bytes.size(), 0);
  return digits.str();
}

}  // namespace warpfold::cli
