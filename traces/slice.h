#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "configs/diagnostic.h"
#include "traces/kernel.h"

namespace warpfold::traces {

// Which part of a kernel to keep.
struct Slice {
  std::string role;  // its warps alone; empty: all roles
  std::string loop;  // of that role, as loop_statistics() numbers them ("2.1"): a warp runs this loop and ends; empty: all
  struct Ctas {
    uint64_t first = 0;
    uint64_t count = 1;
  };
  std::optional<Ctas> ctas;
};

// The part as a kernel of its own; what it then lacks (a producer of the data that it waits for) is the user's to know. Fails where
// the kernel has no such part.
Expected<Kernel> slice(Kernel kernel, const Slice& part);

}  // namespace warpfold::traces
