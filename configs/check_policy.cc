#include <algorithm>
#include <map>
#include <vector>

#include "configs/check.h"
#include "configs/escape/quoted.h"
#include "configs/near_miss.h"

namespace warpfold::configs {

namespace {

std::string indexed(const std::string& field, int index) { return field + "[" + std::to_string(index) + "]"; }

std::string percent_text(double number) {
  std::string digits = std::to_string(number);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

// Kernels that one list of the policy names: known ones, each once.
class Named {
 public:
  Named(const Scenario& scenario, std::string what) : what_(std::move(what)) {
    for (const Kernel& kernel : scenario.kernel()) known_.push_back(kernel.name());
  }

  std::optional<Finding> add(const std::string& name, const std::string& path) {
    if (std::ranges::find(known_, name) == known_.end()) {
      return Finding{path, "no kernel called " + escape::quoted(name) + suggestion(name, known_)};
    }
    if (std::ranges::find(named_, name) != named_.end())
      return Finding{path, "a second " + what_ + " for kernel " + escape::quoted(name)};
    named_.push_back(name);
    return std::nullopt;
  }

 private:
  std::string what_;
  std::vector<std::string> known_;
  std::vector<std::string> named_;
};

// A share that is missing where the kernel cannot do without it, negative, above 100 % or that overbooks the SM or the chip.
class ShareCheck {
 public:
  ShareCheck(std::string field, std::string needed_because) : field_(std::move(field)), needed_(std::move(needed_because)) {}

  std::optional<Finding> add(bool present, double percent, const std::string& path) {
    if (!needed_.empty() && (!present || percent == 0)) {
      return Finding{present ? path + "." + field_ : path, field_ + " must be above 0: " + needed_};
    }
    if (!(percent >= 0 && percent <= 100)) {
      return Finding{path + "." + field_, field_ + " must be from 0 to 100, not " + percent_text(percent)};
    }
    sum_ += percent;
    if (sum_ <= 100) return std::nullopt;
    return Finding{path + "." + field_, "the kernels' " + field_ + " add up to " + percent_text(sum_) + ", more than 100"};
  }

 private:
  std::string field_;
  std::string needed_;
  double sum_ = 0;
};

std::optional<Finding> check_reservations(const Scenario& scenario) {
  const Policy& policy = scenario.policy();
  const std::string bounds = "a reservation also bounds its kernel";
  Named named(scenario, "reservation");
  ShareCheck registers("register_percent", bounds);
  ShareCheck shared_memory("shared_memory_percent", "");
  ShareCheck warp_slots("warp_slot_percent", bounds);
  for (int i = 0; i < policy.reserve_size(); ++i) {
    const Reservation& reserve = policy.reserve(i);
    const std::string path = indexed("policy.reserve", i);
    if (auto fault = named.add(reserve.kernel(), path + ".kernel")) return fault;
    if (auto fault = registers.add(reserve.has_register_percent(), reserve.register_percent(), path)) return fault;
    if (auto fault = shared_memory.add(reserve.has_shared_memory_percent(), reserve.shared_memory_percent(), path)) return fault;
    if (auto fault = warp_slots.add(reserve.has_warp_slot_percent(), reserve.warp_slot_percent(), path)) return fault;
  }
  return std::nullopt;
}

uint32_t stream_of(const Scenario& scenario, const std::string& name) {
  return std::ranges::find(scenario.kernel(), name, &Kernel::name)->stream();
}

// Kernels of one stream follow each other and may have the same SMs, so a stream takes the largest share of its
// kernels.
std::optional<Finding> check_sm_shares(const Scenario& scenario) {
  Named named(scenario, "SM share");
  std::map<uint32_t, double> percent_of_stream;
  for (int i = 0; i < scenario.policy().sm_share_size(); ++i) {
    const SmShare& share = scenario.policy().sm_share(i);
    const std::string path = indexed("policy.sm_share", i);
    if (auto fault = named.add(share.kernel(), path + ".kernel")) return fault;
    if (share.has_sms() == share.has_percent()) return Finding{path, "an SM share is either sms or percent"};
    if (share.has_sms() && share.sms() == 0) return Finding{path + ".sms", "sms must be above 0: a kernel needs an SM"};
    if (!share.has_percent()) continue;
    if (auto fault = ShareCheck("percent", "a kernel needs an SM").add(true, share.percent(), path)) return fault;
    double& of_stream = percent_of_stream[stream_of(scenario, share.kernel())];
    of_stream = std::max(of_stream, share.percent());
    double sum = 0;
    for (const auto& [stream, percent] : percent_of_stream) sum += percent;
    if (sum > 100)
      return Finding{path + ".percent", "the streams' SM shares add up to " + percent_text(sum) + " percent, more than 100"};
  }
  return std::nullopt;
}

std::optional<Finding> check_quotas(const Scenario& scenario) {
  Named named(scenario, "quota");
  for (int i = 0; i < scenario.policy().quota_size(); ++i) {
    const Quota& quota = scenario.policy().quota(i);
    const std::string path = indexed("policy.quota", i);
    if (auto fault = named.add(quota.kernel(), path + ".kernel")) return fault;
    if (!quota.has_ctas() && !quota.has_warps() && !quota.has_registers()) {
      return Finding{path, "a quota bounds ctas, warps or registers"};
    }
    const auto zero = [&](bool present, uint32_t amount, const std::string& field) -> std::optional<Finding> {
      if (!present || amount > 0) return std::nullopt;
      return Finding{path + "." + field, field + " must be above 0: with a quota of 0 the kernel would wait for all others to end"};
    };
    if (auto fault = zero(quota.has_ctas(), quota.ctas(), "ctas")) return fault;
    if (auto fault = zero(quota.has_warps(), quota.warps(), "warps")) return fault;
    if (auto fault = zero(quota.has_registers(), quota.registers(), "registers")) return fault;
  }
  return std::nullopt;
}

std::optional<Finding> check_names(const Scenario& scenario) {
  const Policy& policy = scenario.policy();
  Named in_order(scenario, "place");
  for (int i = 0; i < policy.by_priority().order_size(); ++i) {
    if (auto fault = in_order.add(policy.by_priority().order(i), indexed("policy.by_priority.order", i))) return fault;
  }
  const WarpSpecialized& specialized = policy.warp_specialized();
  Named parties(scenario, "part");
  if (specialized.has_guest()) {
    if (auto fault = parties.add(specialized.guest(), "policy.warp_specialized.guest")) return fault;
  }
  for (int i = 0; i < specialized.host_size(); ++i) {
    if (auto fault = parties.add(specialized.host(i), indexed("policy.warp_specialized.host", i))) return fault;
  }
  return std::nullopt;
}

// A policy that joins two kernels names both or none.
std::optional<Finding> check_pair(const Scenario& scenario, const google::protobuf::RepeatedPtrField<std::string>& kernels,
                                  const std::string& path) {
  if (!kernels.empty() && kernels.size() != 2) {
    return Finding{path, "expected two kernels, not " + std::to_string(kernels.size())};
  }
  Named pair(scenario, "part");
  for (int i = 0; i < kernels.size(); ++i) {
    if (auto fault = pair.add(kernels.Get(i), indexed(path, i))) return fault;
  }
  return std::nullopt;
}

std::optional<Finding> check_interleaved(const Scenario& scenario) {
  const CtaInterleaved& ctas = scenario.policy().cta_interleaved();
  if (auto fault = check_pair(scenario, ctas.kernel(), "policy.cta_interleaved.kernel")) return fault;
  if (!ctas.tickets().empty() && ctas.tickets_size() != 2) {
    return Finding{"policy.cta_interleaved.tickets",
                   "expected tickets of two kernels, not of " + std::to_string(ctas.tickets_size())};
  }
  for (int i = 0; i < ctas.tickets_size(); ++i) {
    if (ctas.tickets(i) > 0) continue;
    return Finding{indexed("policy.cta_interleaved.tickets", i), "tickets must be above 0: both kernels have their turn"};
  }
  return check_pair(scenario, scenario.policy().warp_interleaved().kernel(), "policy.warp_interleaved.kernel");
}

std::optional<Finding> check_counts(const Scenario& scenario) {
  const Policy& policy = scenario.policy();
  if (policy.warp_specialized().has_warps() && (policy.warp_specialized().warps() == 0 || policy.warp_specialized().warps() > 32)) {
    return Finding{"policy.warp_specialized.warps",
                   "warps must be from 1 to 32, not " + std::to_string(policy.warp_specialized().warps())};
  }
  constexpr uint32_t kMostSegments = 256;
  const Pipelined& pipelined = policy.pipelined();
  if (pipelined.has_segments() && (pipelined.segments() < 2 || pipelined.segments() > kMostSegments)) {
    return Finding{"policy.pipelined.segments", "segments must be from 2 to 256, not " + std::to_string(pipelined.segments())};
  }
  if (pipelined.has_buffers() && pipelined.buffers() == 0) return Finding{"policy.pipelined.buffers", "buffers must be above 0"};
  return std::nullopt;
}

}  // namespace

std::optional<Finding> find_policy_fault(const Scenario& scenario) {
  for (const auto check : {check_reservations, check_sm_shares, check_quotas, check_names, check_interleaved, check_counts}) {
    if (auto fault = check(scenario)) return fault;
  }
  return std::nullopt;
}

}  // namespace warpfold::configs
