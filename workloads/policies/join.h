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

// CTAs that an SM is given of each of two kernels in turn: the first one's, then the second one's.
using Tickets = std::array<uint64_t, 2>;

// Two kernels as one whose CTAs each do the work of a CTA of either. A kernel of fewer warps has as many of its CTAs in one as the
// other's warps allow, each with barriers and shared memory of its own. Registers and shared memory are those of the hungrier one.
// The grid is in the order in which SMs draw tickets: a round is a CTA for each of `sms` SMs; where one kernel has none left, the
// other one's are taken. Tickets of 0: in proportion to the CTAs, the fewer ones a CTA in turn.
//
//   128 and 256 CTAs on 108 SMs: tickets 1 and 2, grid 108 of the first, 216 of the second, 20 of the first, 40 of the second
Expected<traces::Kernel> interleave_ctas(const traces::Kernel& first, const traces::Kernel& second, const Tickets& tickets,
                                         uint32_t sms);

// Two kernels as one whose CTA i has the warps of CTA i of both, beside each other: it ends with the later one. Shared memory adds
// up; every thread has the registers that the hungrier kernel needs.
Expected<traces::Kernel> interleave_warps(const traces::Kernel& first, const traces::Kernel& second);

// The two kernels that a policy joins, by position: those named or, where none is, the scenario's only two that may run beside each
// other. `field`: where names are written, "cta_interleaved.kernel".
Expected<std::array<int, 2>> find_pair(const Graph& graph, const configs::Scenario& scenario,
                                       const google::protobuf::RepeatedPtrField<std::string>& names, const std::string& field);

// Puts `joined` in the place of the first of the pair and takes the second out; what preceded or followed either does so with it.
void replace_pair(const Graph& graph, const std::array<int, 2>& pair, traces::Kernel joined, Plan& plan);

}  // namespace warpfold::policies
