#pragma once

#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/result.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"
#include "workloads/policies/policy.h"

namespace warpfold::policies {

// A scenario of hand-written kernels on one SM of an H100 without launch delays, in a scratch folder of its own.
class Bench {
 public:
  // `fields`: of the kernel beside its name and program, for example "stream: 1 priority: 2".
  explicit Bench(uint32_t sms = 1);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  Bench& add(const traces::Kernel& kernel, const std::string& fields);
  Bench& add(const std::string& kernel_in_full);  // text of a `kernel { }` entry
  Bench& policy(const std::string& fields);       // of `policy { }`; replaces the policy

  // The scenario under one policy, replayed; throws where it is refused.
  configs::Result run(configs::PolicyKind kind, const std::string& fold = "off") const;
  Plan plan(configs::PolicyKind kind) const;
  std::string refusal(configs::PolicyKind kind) const;  // "accepted" where it is not

  configs::Scenario scenario(configs::PolicyKind kind) const;
  std::string file() const { return folder_ + "/s.textproto"; }

 private:
  std::string folder_;
  std::string gpu_;
  std::string kernels_;
  std::string policy_;
};

const configs::KernelResult& kernel(const configs::Result& result, const std::string& name);
const traces::Kernel& kernel(const Plan& plan, const std::string& name);
// Warp instructions of a plan's kernel: of its whole grid.
uint64_t issued(const Plan& plan, const std::string& name);

}  // namespace warpfold::policies
