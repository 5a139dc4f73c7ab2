#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <map>
#include <string_view>
#include <vector>

#include "configs/check.h"
#include "configs/load.h"
#include "configs/near_miss.h"

namespace warpfold::configs {

namespace {

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

// Checks fields of one message; the first fault is kept.
class Checker {
 public:
  explicit Checker(std::string path) : path_(std::move(path)) {}

  void at_least_one(std::string_view field, uint64_t value) { require(value >= 1, field, "must be at least 1", value); }
  void at_most(std::string_view field, uint64_t value, uint64_t most) {
    require(value <= most, field, "must be at most " + std::to_string(most), value);
  }
  void one_of(std::string_view field, uint64_t value, std::initializer_list<uint64_t> allowed) {
    std::string list;
    for (const uint64_t choice : allowed) list += (list.empty() ? "" : ", ") + std::to_string(choice);
    const bool found = std::find(allowed.begin(), allowed.end(), value) != allowed.end();
    require(found, field, "must be " + std::string(allowed.size() > 1 ? "one of " : "") + list, value);
  }
  void multiple_of(std::string_view field, uint64_t value, uint64_t unit, uint64_t most) {
    const bool good = value >= unit && value <= most && value % unit == 0;
    require(good, field, "must be a multiple of " + std::to_string(unit) + " up to " + std::to_string(most), value);
  }
  void no_larger_than(std::string_view field, uint64_t value, std::string_view whole, uint64_t size) {
    require(value <= size, field, "must not be larger than " + std::string(whole) + " (" + std::to_string(size) + ")", value);
  }
  void require(bool good, std::string_view field, const std::string& rule, uint64_t value) {
    if (!good) fault(field, std::string(field) + " " + rule + ", not " + std::to_string(value));
  }
  void fault(std::string_view field, const std::string& message) {
    if (!fault_) fault_ = Finding{field.empty() ? path_ : path_ + "." + std::string(field), message};
  }

  const std::optional<Finding>& result() const { return fault_; }

 private:
  std::string path_;
  std::optional<Finding> fault_;
};

std::optional<Finding> check_philox(const Philox& philox, const std::string& path) {
  Checker check(path);
  check.at_least_one("heads", philox.heads());
  check.at_least_one("queries", philox.queries());
  check.at_least_one("keys", philox.keys());
  if (philox.has_batch()) check.at_least_one("batch", philox.batch());
  if (philox.has_rounds()) check.one_of("rounds", philox.rounds(), {3, 5, 7, 10});
  if (philox.has_threshold_bits()) check.one_of("threshold_bits", philox.threshold_bits(), {8, 16, 32});
  if (philox.has_threads_per_cta()) check.multiple_of("threads_per_cta", philox.threads_per_cta(), 32, 1024);
  if (philox.has_ctas_per_sm()) check.at_least_one("ctas_per_sm", philox.ctas_per_sm());
  return check.result();
}

std::optional<Finding> check_hopper_gemm(const HopperGemm& gemm, const std::string& path) {
  Checker check(path);
  check.at_least_one("m", gemm.m());
  check.at_least_one("n", gemm.n());
  check.at_least_one("k", gemm.k());
  // One wgmma covers 64 rows, 8 to 256 columns and 32 bytes of k.
  const uint64_t step = gemm.type() == FP8 ? 32 : 16;
  if (gemm.has_tile_m()) check.multiple_of("tile_m", gemm.tile_m(), 64, 512);
  if (gemm.has_tile_n()) check.multiple_of("tile_n", gemm.tile_n(), 8, 512);
  if (gemm.has_tile_k()) check.multiple_of("tile_k", gemm.tile_k(), step, 1024);
  if (gemm.has_tile_m()) check.no_larger_than("tile_m", gemm.tile_m(), "m", gemm.m());
  if (gemm.has_tile_n()) check.no_larger_than("tile_n", gemm.tile_n(), "n", gemm.n());
  if (gemm.has_tile_k()) check.no_larger_than("tile_k", gemm.tile_k(), "k", gemm.k());
  check.at_most("stages", gemm.stages(), 32);
  if (gemm.has_cluster_m()) check.one_of("cluster_m", gemm.cluster_m(), {1, 2, 4, 8, 16});
  if (gemm.has_cluster_n()) check.one_of("cluster_n", gemm.cluster_n(), {1, 2, 4, 8, 16});
  const uint64_t cluster = uint64_t{std::max(gemm.cluster_m(), 1U)} * std::max(gemm.cluster_n(), 1U);
  if (cluster > 16)
    check.fault("cluster_m", "a cluster has at most 16 CTAs, not cluster_m x cluster_n = " + std::to_string(cluster));
  if (gemm.has_swizzle()) check.at_least_one("swizzle", gemm.swizzle());
  if (gemm.has_registers_per_thread()) check.at_least_one("registers_per_thread", gemm.registers_per_thread());
  check.at_most("registers_per_thread", gemm.registers_per_thread(), 255);
  return check.result();
}

std::optional<Finding> check_ampere_gemm(const AmpereGemm& gemm, const std::string& path) {
  constexpr uint64_t kTile = 128;  // the generator's tile is 128 x 128
  Checker check(path);
  check.at_least_one("m", gemm.m());
  check.at_least_one("n", gemm.n());
  check.at_least_one("k", gemm.k());
  if (gemm.m() < kTile) check.fault("m", "m must not be smaller than the tile's 128, not " + std::to_string(gemm.m()));
  if (gemm.n() < kTile) check.fault("n", "n must not be smaller than the tile's 128, not " + std::to_string(gemm.n()));
  if (gemm.has_type() && gemm.type() != BF16 && gemm.type() != FP16) {
    check.fault("type", "type must be BF16 or FP16, not " + ElementType_Name(gemm.type()));
  }
  if (gemm.has_tile_k()) check.one_of("tile_k", gemm.tile_k(), {32, 64});
  if (gemm.has_tile_k()) check.no_larger_than("tile_k", gemm.tile_k(), "k", gemm.k());
  if (gemm.has_stages()) check.one_of("stages", gemm.stages(), {3, 4});
  if (gemm.has_swizzle()) check.at_least_one("swizzle", gemm.swizzle());
  return check.result();
}

std::optional<Finding> check_workload(const Kernel& kernel, const std::string& path) {
  switch (kernel.workload_case()) {
    case Kernel::kPhilox:
      return check_philox(kernel.philox(), path + ".philox");
    case Kernel::kHopperGemm:
      return check_hopper_gemm(kernel.hopper_gemm(), path + ".hopper_gemm");
    case Kernel::kAmpereGemm:
      return check_ampere_gemm(kernel.ampere_gemm(), path + ".ampere_gemm");
    case Kernel::kTrace:
      if (kernel.trace().path().empty()) return Finding{path + ".trace", "path is missing"};
      return std::nullopt;
    case Kernel::WORKLOAD_NOT_SET:
      break;
  }
  return Finding{path,
                 "kernel " + quoted(kernel.name()) + " has no workload; expected one of philox, hopper_gemm, ampere_gemm, trace"};
}

// Names appear in --set paths and in table columns, so they keep to letters, digits, _ and -, and do not look like an index.
bool good_name(const std::string& name) {
  const auto allowed = [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_' || letter == '-'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 && std::ranges::all_of(name, allowed);
}

std::optional<Finding> check_name(const std::string& what, const std::string& name, const std::string& path) {
  if (name.empty()) return Finding{path, what + " has no name"};
  if (good_name(name)) return std::nullopt;
  return Finding{path + ".name",
                 "a " + what + "'s name is made of letters, digits, _ and - and does not start with a digit, not " + quoted(name)};
}

std::string indexed(const std::string& field, int index) { return field + "[" + std::to_string(index) + "]"; }

std::vector<std::string> kernel_names(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const Kernel& kernel : scenario.kernel()) names.push_back(kernel.name());
  return names;
}

std::optional<Finding> unknown_kernel(const std::string& name, const std::vector<std::string>& known, const std::string& path) {
  if (std::ranges::find(known, name) != known.end()) return std::nullopt;
  return Finding{path, "no kernel called " + quoted(name) + suggestion(name, known)};
}

std::optional<Finding> check_kernels(const Scenario& scenario) {
  if (scenario.kernel().empty()) return Finding{"kernel", "no kernel: a scenario has at least one"};
  const std::vector<std::string> names = kernel_names(scenario);
  for (int i = 0; i < scenario.kernel_size(); ++i) {
    const std::string path = indexed("kernel", i);
    const Kernel& kernel = scenario.kernel(i);
    if (auto fault = check_name("kernel", kernel.name(), path)) return fault;
    if (std::find(names.begin(), names.begin() + i, kernel.name()) != names.begin() + i) {
      return Finding{path + ".name", "a second kernel called " + quoted(kernel.name())};
    }
    if (auto fault = check_workload(kernel, path)) return fault;
    for (int a = 0; a < kernel.after_size(); ++a) {
      if (auto fault = unknown_kernel(kernel.after(a), names, indexed(path + ".after", a))) return fault;
    }
  }
  return std::nullopt;
}

// Finds a circle in "runs after": `after`, the order within a stream and, where kernels are serialised, the order written.
class OrderCheck {
 public:
  explicit OrderCheck(const Scenario& scenario) : scenario_(scenario), state_(static_cast<size_t>(scenario.kernel_size())) {
    for (int i = 0; i < scenario.kernel_size(); ++i) index_[scenario.kernel(i).name()] = i;
  }

  std::optional<Finding> run() {
    for (int i = 0; i < scenario_.kernel_size(); ++i) {
      if (!visit(i)) return fault();
    }
    return std::nullopt;
  }

 private:
  enum class State { kNew, kOpen, kDone };

  std::vector<int> predecessors(int kernel) const {
    std::vector<int> found;
    for (const std::string& name : scenario_.kernel(kernel).after()) found.push_back(index_.at(name));
    const bool serialised = scenario_.policy().kind() == SEQUENTIAL;
    for (int i = 0; i < kernel; ++i) {
      if (serialised || scenario_.kernel(i).stream() == scenario_.kernel(kernel).stream()) found.push_back(i);
    }
    return found;
  }

  bool visit(int kernel) {
    State& state = state_[static_cast<size_t>(kernel)];
    if (state == State::kDone) return true;
    trail_.push_back(kernel);
    if (state == State::kOpen) return false;
    state = State::kOpen;
    for (const int before : predecessors(kernel)) {
      if (!visit(before)) return false;
    }
    trail_.pop_back();
    state_[static_cast<size_t>(kernel)] = State::kDone;
    return true;
  }

  Finding fault() const {
    const auto start = std::find(trail_.begin(), trail_.end(), trail_.back());
    std::string chain;
    std::string path = indexed("kernel", *start);
    for (auto kernel = start; kernel != trail_.end(); ++kernel) {
      chain += (chain.empty() ? "" : " after ") + scenario_.kernel(*kernel).name();
      if (scenario_.kernel(*kernel).after_size() > 0) path = indexed("kernel", *kernel) + ".after[0]";
    }
    const std::string rule = scenario_.policy().kind() == SEQUENTIAL ? "policy SEQUENTIAL runs kernels in the order written"
                                                                     : "kernels of one stream run in the order written";
    return {path, "kernels wait for each other: " + chain + " (" + rule + ")"};
  }

  const Scenario& scenario_;
  std::map<std::string, int> index_;
  std::vector<State> state_;
  std::vector<int> trail_;
};

// A share that is missing where the kernel cannot do without it, negative, above 100 % or that overbooks the SM.
class ShareCheck {
 public:
  ShareCheck(std::string field, bool needed) : field_(std::move(field)), needed_(needed) {}

  std::optional<Finding> add(bool present, double percent, const std::string& path) {
    if (needed_ && (!present || percent == 0)) {
      return Finding{present ? path + "." + field_ : path, field_ + " must be above 0: a reservation also bounds its kernel"};
    }
    if (!(percent >= 0 && percent <= 100)) {
      return Finding{path + "." + field_, field_ + " must be from 0 to 100, not " + text(percent)};
    }
    sum_ += percent;
    if (sum_ <= 100) return std::nullopt;
    return Finding{path + "." + field_, "the kernels' " + field_ + " add up to " + text(sum_) + ", more than 100"};
  }

 private:
  static std::string text(double number) {
    std::string digits = std::to_string(number);
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
    return digits;
  }

  std::string field_;
  bool needed_;
  double sum_ = 0;
};

std::optional<Finding> check_policy(const Scenario& scenario) {
  const Policy& policy = scenario.policy();
  if (policy.kind() == CARVE_OUT && policy.reserve().empty()) {
    return Finding{"policy.kind", "policy CARVE_OUT needs at least one reserve { kernel: ... }"};
  }
  const std::vector<std::string> names = kernel_names(scenario);
  std::vector<std::string> reserved;
  ShareCheck registers("register_percent", true);
  ShareCheck shared_memory("shared_memory_percent", false);
  ShareCheck warp_slots("warp_slot_percent", true);
  for (int i = 0; i < policy.reserve_size(); ++i) {
    const Reservation& reserve = policy.reserve(i);
    const std::string path = indexed("policy.reserve", i);
    if (auto fault = unknown_kernel(reserve.kernel(), names, path + ".kernel")) return fault;
    if (std::ranges::find(reserved, reserve.kernel()) != reserved.end()) {
      return Finding{path + ".kernel", "a second reservation for kernel " + quoted(reserve.kernel())};
    }
    reserved.push_back(reserve.kernel());
    if (auto fault = registers.add(reserve.has_register_percent(), reserve.register_percent(), path)) return fault;
    if (auto fault = shared_memory.add(reserve.has_shared_memory_percent(), reserve.shared_memory_percent(), path)) return fault;
    if (auto fault = warp_slots.add(reserve.has_warp_slot_percent(), reserve.warp_slot_percent(), path)) return fault;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> find_parameter_fault(const Scenario& scenario) {
  std::vector<std::string> names;
  for (int i = 0; i < scenario.parameter_size(); ++i) {
    const Parameter& parameter = scenario.parameter(i);
    const std::string path = indexed("parameter", i);
    if (auto fault = check_name("parameter", parameter.name(), path)) return fault;
    if (std::ranges::find(names, parameter.name()) != names.end()) {
      return Finding{path + ".name", "a second parameter called " + quoted(parameter.name())};
    }
    names.push_back(parameter.name());
    if (Scenario::descriptor()->FindFieldByName(parameter.name()) != nullptr) {
      return Finding{path + ".name",
                     "a parameter cannot be called " + quoted(parameter.name()) + ": a scenario has a field of that name"};
    }
    if (!parameter.has_value()) return Finding{path, "parameter " + quoted(parameter.name()) + " has no value"};
    if (parameter.sets().empty()) return Finding{path, "parameter " + quoted(parameter.name()) + " sets nothing"};
  }
  return std::nullopt;
}

std::optional<Finding> find_scenario_fault(const Scenario& scenario) {
  if (auto fault = find_parameter_fault(scenario)) return fault;
  if (auto fault = check_kernels(scenario)) return fault;
  if (auto fault = OrderCheck(scenario).run()) return fault;
  return check_policy(scenario);
}

Expected<void> check_scenario(const Scenario& scenario, const std::string& file) {
  if (const auto fault = find_scenario_fault(scenario)) return fail_at(file, 0, 0, fault->message);
  return {};
}

}  // namespace warpfold::configs
