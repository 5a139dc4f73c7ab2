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

// One launch of a plan. It waits for others by their positions in the plan.
struct PlannedKernel : traces::LaunchPlan {
  traces::Kernel kernel;
  std::optional<traces::Kernel> alone;  // where the caches that others leave it have made `kernel` another one
  std::string of;                       // the scenario's kernel whose work it does, all of it or a part
  std::vector<std::string> also;        // those whose work it does besides
  uint64_t found_in_l2_bytes = 0;       // of its inputs, where it begins with L2 AS_LEFT
};

// What is launched for a scenario under one policy.
struct Plan {
  std::vector<PlannedKernel> kernels;
  bool serialise = false;          // one launch after the other
  bool issue_by_priority = false;  // on each sub-core warps of the kernel of highest priority go first
  uint64_t stored_bits_bytes = 0;  // random bits that have to be kept in memory at a time
};

// Settings of a policy that the scenario leaves open.
struct OpenSettings {
  std::vector<configs::Policy> choices;  // the scenario's policy with these settings; some may turn out not to be possible
  // Kernels of the scenario: each choice gives those of `more` as much room as the one before it or more, those of `less` as much
  // or less. Empty: the choices have no such order.
  std::vector<std::string> more;
  std::vector<std::string> less;
};

// A way to share the GPU. It holds no state: everything it is told stands in the scenario.
class Policy {
 public:
  virtual ~Policy() = default;

  virtual configs::PolicyKind kind() const = 0;
  virtual std::string_view help() const = 0;  // one line
  // Fails where the policy has nothing to do with the scenario or cannot be carried out: the message says why. `scenario` is
  // resolved and checked, `kernels` makes those of its file.
  virtual Expected<Plan> plan(const configs::Scenario& scenario, workloads::KernelMaker& kernels) const = 0;
  // The settings that the policy could choose where the scenario does not. No choices: nothing is open.
  virtual OpenSettings open(const configs::Scenario& /*scenario*/, workloads::KernelMaker& /*kernels*/) const { return {}; }
};

// All policies, in the order in which they are listed and compared.
const std::vector<const Policy*>& all();

const Policy& policy_of(configs::PolicyKind kind);

// The plan of the scenario's own policy; a failure names the policy, and the field at fault by its path.
Expected<Plan> make_plan(const configs::Scenario& scenario, workloads::KernelMaker& kernels);

}  // namespace warpfold::policies
