#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "configs/diagnostic.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"
#include "workloads/policies/graph.h"
#include "workloads/policies/plan.h"

namespace warpfold::policies {

// CTAs that an SM draws in turn: of the first kernel, then of the second.
using Tickets = std::array<uint64_t, 2>;

// Joins two kernels into one; each of its CTAs does the work of CTAs of one of the two. If one kernel has fewer warps per CTA, a
// joined CTA holds as many of its CTAs as the other kernel's warps allow, each with its own barriers and shared memory. Registers
// and shared memory are the larger of the two kernels' needs. The grid is in the order in which SMs draw tickets: a round is one
// CTA for each of `sms` SMs. When one kernel has no CTAs left, those of the other are taken. Tickets of 0: in proportion to the
// numbers of CTAs, one at a time for the kernel with fewer CTAs.
//
//   128 and 256 CTAs on 108 SMs: tickets 1 and 2, grid 108 of the first, 216 of the second, 20 of the first, 40 of the second
Expected<traces::Kernel> interleave_ctas(const traces::Kernel& first, const traces::Kernel& second, const Tickets& tickets,
                                         uint32_t sms);

// Joins two kernels into one whose CTA i runs the warps of CTA i of both side by side and ends when the later of the two ends.
// Shared memory adds up; every thread gets the registers of the kernel that needs more.
Expected<traces::Kernel> interleave_warps(const traces::Kernel& first, const traces::Kernel& second);

// Returns the two kernels that a policy joins, by position: the two in `names` or, if `names` is empty, the only two of the
// scenario that may overlap. `field`: the path at which names are written, such as "cta_interleaved.kernel".
Expected<std::array<int, 2>> find_pair(const Graph& graph, const configs::Scenario& scenario,
                                       const google::protobuf::RepeatedPtrField<std::string>& names, const std::string& field);

// Replaces the first kernel of the pair by `joined` and removes the second. Kernels that preceded or followed either kernel now
// precede or follow the joined one.
void replace_pair(const Graph& graph, const std::array<int, 2>& pair, traces::Kernel joined, Plan& plan);

}  // namespace warpfold::policies
