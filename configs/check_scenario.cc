#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

#include "configs/check.h"
#include "configs/escape/quoted.h"
#include "configs/load.h"
#include "configs/near_miss.h"

namespace warpfold::configs {

namespace {

// Names appear in --set paths and in table columns, so they keep to letters, digits, _ and -, and do not look like an index.
bool good_name(const std::string& name) {
  const auto allowed = [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_' || letter == '-'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 && std::ranges::all_of(name, allowed);
}

std::optional<Finding> check_name(const std::string& what, const std::string& name, const std::string& path) {
  if (name.empty()) return Finding{path, what + " has no name"};
  if (good_name(name)) return std::nullopt;
  return Finding{path + ".name", "a " + what + "'s name is made of letters, digits, _ and - and does not start with a digit, not " +
                                     escape::quoted(name)};
}

std::string indexed(const std::string& field, int index) { return field + "[" + std::to_string(index) + "]"; }

std::vector<std::string> kernel_names(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const Kernel& kernel : scenario.kernel()) names.push_back(kernel.name());
  return names;
}

std::optional<Finding> unknown_kernel(const std::string& name, const std::vector<std::string>& known, const std::string& path) {
  if (std::ranges::find(known, name) != known.end()) return std::nullopt;
  return Finding{path, "no kernel called " + escape::quoted(name) + suggestion(name, known)};
}

// `known`: the kernels that are written before.
std::optional<Finding> check_tensors(const Kernel& kernel, const std::vector<std::string>& known, const std::string& path) {
  std::vector<std::string> streams;
  for (int t = 0; t < kernel.tensor_size(); ++t) {
    const SharedTensor& tensor = kernel.tensor(t);
    const std::string at = indexed(path + ".tensor", t);
    if (tensor.stream().empty()) return Finding{at, "no stream: a tensor names one of the kernel's streams"};
    if (std::ranges::find(streams, tensor.stream()) != streams.end())
      return Finding{at + ".stream", "a second tensor for stream " + escape::quoted(tensor.stream())};
    streams.push_back(tensor.stream());
    const size_t dot = tensor.of().find('.');
    if (dot == std::string::npos || dot + 1 == tensor.of().size())
      return Finding{tensor.has_of() ? at + ".of" : at, "expected KERNEL.STREAM, not " + escape::quoted(tensor.of())};
    const std::string of = tensor.of().substr(0, dot);
    if (std::ranges::find(known, of) == known.end())
      return Finding{at + ".of", "no kernel called " + escape::quoted(of) + " is written before this one" + suggestion(of, known)};
  }
  return std::nullopt;
}

std::optional<Finding> check_footprint(const Footprint& footprint, const std::string& path) {
  constexpr uint32_t kMostRegisters = 255;                   // a thread: CUDA C++ Programming Guide, compute capabilities
  constexpr uint32_t kMostSharedMemory = uint32_t{1} << 24;  // assumed: 64 times what any GPU so far has
  const uint32_t registers = footprint.registers_per_thread();
  if (footprint.has_registers_per_thread() && (registers < 1 || registers > kMostRegisters))
    return Finding{path + ".registers_per_thread", "a thread has 1 to 255 registers, not " + std::to_string(registers)};
  if (footprint.shared_memory_bytes() > kMostSharedMemory) {
    return Finding{path + ".shared_memory_bytes", "a CTA has at most " + std::to_string(kMostSharedMemory) +
                                                      " bytes of shared memory, not " +
                                                      std::to_string(footprint.shared_memory_bytes())};
  }
  return std::nullopt;
}

std::optional<Finding> check_kernels(const Scenario& scenario) {
  if (scenario.kernel().empty()) return Finding{"kernel", "no kernel: a scenario has at least one"};
  const std::vector<std::string> names = kernel_names(scenario);
  for (int i = 0; i < scenario.kernel_size(); ++i) {
    const std::string path = indexed("kernel", i);
    const Kernel& kernel = scenario.kernel(i);
    if (auto fault = check_name("kernel", kernel.name(), path)) return fault;
    if (std::find(names.begin(), names.begin() + i, kernel.name()) != names.begin() + i) {
      return Finding{path + ".name", "a second kernel called " + escape::quoted(kernel.name())};
    }
    if (auto fault = find_workload_fault(kernel, path)) return fault;
    if (auto fault = check_footprint(kernel.footprint(), path + ".footprint")) return fault;
    if (auto fault = check_tensors(kernel, {names.begin(), names.begin() + i}, path)) return fault;
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

}  // namespace

std::optional<Finding> find_parameter_fault(const Scenario& scenario) {
  std::vector<std::string> names;
  for (int i = 0; i < scenario.parameter_size(); ++i) {
    const Parameter& parameter = scenario.parameter(i);
    const std::string path = indexed("parameter", i);
    if (auto fault = check_name("parameter", parameter.name(), path)) return fault;
    if (std::ranges::find(names, parameter.name()) != names.end()) {
      return Finding{path + ".name", "a second parameter called " + escape::quoted(parameter.name())};
    }
    names.push_back(parameter.name());
    if (Scenario::descriptor()->FindFieldByName(parameter.name()) != nullptr) {
      return Finding{path + ".name",
                     "a parameter cannot be called " + escape::quoted(parameter.name()) + ": a scenario has a field of that name"};
    }
    if (!parameter.has_value()) return Finding{path, "parameter " + escape::quoted(parameter.name()) + " has no value"};
    if (parameter.sets().empty()) return Finding{path, "parameter " + escape::quoted(parameter.name()) + " sets nothing"};
  }
  return std::nullopt;
}

std::optional<Finding> find_launch_fault(const Scenario& scenario) {
  const Gpu& gpu = scenario.gpu();
  const std::string kind = LaunchKind_Name(scenario.launch());
  if (scenario.launch() == GRAPH && !gpu.has_graph_launch_cycles())
    return Finding{"launch", "launch " + kind + " needs a GPU that states graph_launch_cycles"};
  if (scenario.launch() == PROGRAMMATIC && !gpu.has_programmatic_launch_cycles()) {
    return Finding{"launch", "launch " + kind + " needs a GPU that states programmatic_launch_cycles: sm_90 and later have it"};
  }
  return std::nullopt;
}

std::optional<Finding> find_scenario_fault(const Scenario& scenario) {
  if (auto fault = find_parameter_fault(scenario)) return fault;
  if (auto fault = find_launch_fault(scenario)) return fault;
  if (auto fault = check_kernels(scenario)) return fault;
  if (auto fault = OrderCheck(scenario).run()) return fault;
  return find_policy_fault(scenario);
}

Expected<void> check_scenario(const Scenario& scenario, const std::string& file) {
  if (const auto fault = find_scenario_fault(scenario)) return fail_at(file, 0, 0, fault->message);
  return {};
}

}  // namespace warpfold::configs
