#pragma once

#include <google/protobuf/message.h>

#include <optional>
#include <string>

#include "configs/result.pb.h"

namespace warpfold::cli {

// Returns the path of a number that is NaN or infinite: "kernels[0].slowdown.warps". None if all are finite.
std::optional<std::string> non_finite_field(const google::protobuf::Message& message);

// Returns the first broken invariant of a simulation's result, as a sentence; none if all hold.
//
//   numbers      finite; times and warps not below 0
//   kernels      start <= end <= total_cycles, cycles = end - start
//   states       of a kernel, and of each phase of its roles, sum to its resident warp-cycles; phases sum to the kernel
//   slowdown     losses sum to (cycles - solo_cycles) x warps
//   resources    busy <= capacity, except that the last instruction of each pipe counts whole at issue
//   bytes        DRAM bytes <= L2 bytes; hit rates, conflict rates and energy shares lie between 0 and 1
// In bounded runs, busy cycles and DRAM bytes are estimates: they may be 3 %, or the run's error bound, above these limits.
std::optional<std::string> broken_invariant(const configs::Result& result);

}  // namespace warpfold::cli
