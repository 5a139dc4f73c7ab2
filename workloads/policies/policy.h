#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"
#include "traces/launch.h"
#include "workloads/workloads.h"

namespace warpfold::policies {

// One launch of a plan. Its dependences are positions of other launches in the plan.
struct PlannedKernel : traces::LaunchPlan {
  traces::Kernel kernel;
  std::string of;                  // name of the scenario's kernel whose work it does, in whole or in part
  std::vector<std::string> also;   // names of further kernels whose work it does
  uint64_t found_in_l2_bytes = 0;  // bytes of its inputs found in L2, if it begins with L2 AS_LEFT
};

// The launches of a scenario under one policy.
struct Plan {
  std::vector<PlannedKernel> kernels;
  bool serialise = false;          // run the launches one after the other
  bool issue_by_priority = false;  // on each sub-core, warps of the kernel with the highest priority issue first
  uint64_t stored_bits_bytes = 0;  // peak size of stored random bits in memory
};

// Values for the settings of a policy that the scenario leaves open.
struct OpenSettings {
  std::vector<configs::Policy> choices;  // copies of the scenario's policy with the settings filled in; some may prove impossible
  // Names of kernels by which the choices are ordered. From one choice to the next, kernels in `more` get as much room or more, and
  // kernels in `less` as much or less. Empty: the choices have no such order.
  std::vector<std::string> more;
  std::vector<std::string> less;
};

// A way to share the GPU. Policies are stateless: the scenario holds all their settings.
class Policy {
 public:
  virtual ~Policy() = default;

  virtual configs::PolicyKind kind() const = 0;
  virtual std::string_view help() const = 0;  // one line
  // Returns the launches for `scenario`, which is resolved and checked; `kernels` makes its kernels. Fails, with the reason in the
  // message, if the policy does not apply to the scenario or cannot be carried out.
  virtual Expected<Plan> plan(const configs::Scenario& scenario, workloads::KernelMaker& kernels) const = 0;
  // Returns the settings that the policy may choose because the scenario does not state them. Empty choices: nothing is open.
  virtual OpenSettings open(const configs::Scenario& /*scenario*/, workloads::KernelMaker& /*kernels*/) const { return {}; }
};

// All policies, in the order in which they are listed and compared.
const std::vector<const Policy*>& all();

const Policy& policy_of(configs::PolicyKind kind);

// Returns the plan of the scenario's policy. An error names the policy, and the path of the field at fault.
Expected<Plan> make_plan(const configs::Scenario& scenario, workloads::KernelMaker& kernels);

}  // namespace warpfold::policies
