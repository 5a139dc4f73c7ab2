#include "workloads/common/warm_l2.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "workloads/common/stream_bytes.h"

namespace warpfold::workloads {

void warm_l2(traces::Kernel& kernel, uint64_t l2_bytes) {
  constexpr double kShares = 256;
  const std::vector<double> bytes = requested_bytes(kernel);
  double read = 0;
  for (size_t s = 0; s < bytes.size(); ++s) read += kernel.streams[s].write ? 0 : bytes[s] * dram_share(kernel.streams[s]);
  if (read == 0) return;
  const double left = 1 - std::min(1.0, static_cast<double>(l2_bytes) / read);
  for (traces::MemoryStream& stream : kernel.streams) {
    if (stream.write) continue;
    set_dram_share(stream, static_cast<uint64_t>(std::ceil(kShares * left * dram_share(stream))), static_cast<uint64_t>(kShares));
  }
}

}  // namespace warpfold::workloads
