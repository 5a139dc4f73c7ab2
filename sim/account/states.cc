#include "sim/account/states.h"

namespace warpfold::sim {

std::string_view state_name(WarpState state) {
  static constexpr std::array<std::string_view, kWarpStates> kNames = {
      "selected",     "wait",           "not_selected",     "dispatch_stall",  "math_pipe_throttle",
      "mio_throttle", "lg_throttle",    "short_scoreboard", "long_scoreboard", "barrier",
      "gmma",         "no_instruction", "branch_resolving", "sleeping",        "drain"};
  return kNames[static_cast<int>(state)];
}

std::string_view contended_name(Contended resource) {
  static constexpr std::array<std::string_view, kContended> kNames = {"issue_slot",
                                                                      "alu",
                                                                      "fma_heavy",
                                                                      "fma_lite",
                                                                      "fp64",
                                                                      "xu",
                                                                      "tensor",
                                                                      "uniform",
                                                                      "fp16",
                                                                      "wgmma",
                                                                      "register_read_port",
                                                                      "register_write_port",
                                                                      "memory_queue",
                                                                      "shared_memory",
                                                                      "load_return",
                                                                      "bulk_copy",
                                                                      "sm_ingress",
                                                                      "sm_egress",
                                                                      "l2_read",
                                                                      "l2_write",
                                                                      "dram",
                                                                      "registers",
                                                                      "shared_memory_capacity",
                                                                      "warp_slots",
                                                                      "cta_slots"};
  return kNames[static_cast<int>(resource)];
}

}  // namespace warpfold::sim
