#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "configs/diagnostic.h"
#include "traces/kernel.h"

namespace warpfold::traces {

// Part of a kernel to keep.
struct Slice {
  std::string role;  // only the warps of this role; empty: all roles
  std::string loop;  // number of a loop of that role as in loop_statistics() ("2.1"): a warp runs only this loop and
                     // exits; empty: all
  struct Ctas {
    uint64_t first = 0;
    uint64_t count = 1;
  };
  std::optional<Ctas> ctas;
};

// Returns the part as a kernel of its own. Fails if the kernel has no such part. The caller must know whether the part
// can run alone: it may wait for data of a producer that is missing.
Expected<Kernel> slice(Kernel kernel, const Slice& part);

}  // namespace warpfold::traces
