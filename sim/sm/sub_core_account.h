// The listener's state of one sub-core: plain data, changed by the overloads of tell() alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isa/pipe.h"
#include "sim/account/stall_ledger.h"
#include "sim/engine/warp_mask.h"

namespace warpfold::sim {

struct SubCoreAccount {
  explicit SubCoreAccount(size_t launches) : stalls(launches), issued(launches, 0) {}

  WarpMask coupled = 0;  // warps of launches whose warps wait for each other
  StallLedger stalls;
  std::vector<uint64_t> issued;                     // per launch: warp instructions
  uint64_t unsettled = 0;                           // instructions issued that are not in the account
  std::array<uint64_t, isa::kPipes> pipe_cycles{};  // for which instructions have held the pipes

  bool operator==(const SubCoreAccount&) const = default;
};

}  // namespace warpfold::sim
