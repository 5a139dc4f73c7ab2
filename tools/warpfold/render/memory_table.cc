#include "tools/warpfold/render/memory_table.h"

namespace warpfold::cli {

namespace {

constexpr double kPercent = 100;

Cell share_cell(uint64_t part, uint64_t whole) {
  return whole == 0 ? Cell("-") : Cell(kPercent * static_cast<double>(part) / static_cast<double>(whole), 1);
}

}  // namespace

Table memory_table(const configs::Result& result) {
  Table table({"kernel", "access", "requests", "sectors/request", "MB", "L1 hits %", "wavefronts", "conflicts %"});
  for (const configs::KernelResult& kernel : result.kernels()) {
    for (const configs::AccessTraffic& access : kernel.memory().accesses()) {
      constexpr double kMega = 1e6;
      table.add({kernel.name(), access.kind(), uint64_t{access.requests()},
                 access.sectors_per_request() > 0 ? Cell(access.sectors_per_request(), 1) : Cell("-"),
                 access.bytes() > 0 ? Cell(static_cast<double>(access.bytes()) / kMega, 2) : Cell("-"),
                 share_cell(access.l1_bytes(), access.bytes()),
                 access.wavefronts() > 0 ? Cell(uint64_t{access.wavefronts()}) : Cell("-"),
                 share_cell(access.excess_wavefronts(), access.wavefronts())});
    }
  }
  return table;
}

}  // namespace warpfold::cli
