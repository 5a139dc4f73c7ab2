#pragma once

#include <google/protobuf/message.h>

#include <optional>
#include <string>

#include "configs/result.pb.h"

namespace warpfold::cli {

// The path of a number that is NaN or infinite: "kernels[0].slowdown.warps". None: all are finite.
std::optional<std::string> non_finite_field(const google::protobuf::Message& message);

// What every simulation's result holds, whatever was simulated; the first that this one breaks, as a sentence. None: it holds all.
//
//   numbers      finite; times and warps not below 0
//   kernels      start <= end <= total_cycles, cycles = end - start
//   states       of a kernel, and of each phase of its roles, sum to its resident warp-cycles; phases sum to the kernel
//   slowdown     losses sum to (cycles - solo_cycles) x warps
//   resources    busy <= capacity, but for the last instruction of each pipe, which counts whole where it is issued
//   bytes        DRAM's are among L2's; hit rates, conflict rates and energy shares lie between 0 and 1
// Bounded runs estimate busy and DRAM's bytes: 3 % more, or their error bound, is let through there.
std::optional<std::string> broken_invariant(const configs::Result& result);

}  // namespace warpfold::cli
