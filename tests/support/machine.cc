#include "tests/support/machine.h"

#include <array>
#include <cctype>
#include <map>
#include <random>
#include <stdexcept>

#include "configs/load.h"
#include "tests/source_dir.h"
#include "traces/trace_file.h"

namespace warpfold::test {

namespace {

char counter(int number) { return number < 0 ? '-' : static_cast<char>('0' + number); }

template <typename T>
T value_of(Expected<T> expected) {
  if (!expected) throw std::logic_error(expected.error().text());
  return *std::move(expected);
}

}  // namespace

std::string text(std::initializer_list<std::string_view> pieces) {
  std::string all;
  for (const std::string_view piece : pieces) all += piece;
  return all;
}

std::string test_name(std::string_view what) {
  std::string name;
  for (const char c : what) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (name.ends_with('_')) name.pop_back();
  return name;
}

std::string op(std::string_view instruction, const Control& control, std::string_view effect) {
  std::string code = "[B------:R-:W-:-:S00] ";
  for (const int c : control.wait) code.at(2 + static_cast<size_t>(c)) = counter(c);
  code[10] = counter(control.read);
  code[13] = counter(control.write);
  if (control.yield) code[15] = 'Y';
  code[18] = static_cast<char>('0' + control.stall / 10);
  code[19] = static_cast<char>('0' + control.stall % 10);
  code.append(instruction).append(" ;");
  const bool moves = effect.find("bytes=") != std::string_view::npos;
  const bool global = instruction.starts_with("LDG") || instruction.starts_with("STG");
  const std::string_view l1 = global && !moves && !instruction.starts_with("LDGDEPBAR") ? "l1_hit" : "";
  if (!effect.empty() || !l1.empty()) code.append(" {").append(effect).append(l1).append("}");
  return code;
}

Lines repeat(int times, const Lines& lines) {
  Lines all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), lines.begin(), lines.end());
  return all;
}

Lines loop(uint64_t trips, const Lines& lines) { return loop(std::to_string(trips), lines); }
Lines loop(std::string_view trips, const Lines& lines) { return join(join({text({"loop ", trips})}, lines), {"end"}); }

Lines join(Lines lines, const Lines& more) {
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

Lines three_fresh(std::string_view mnemonic, int count) {
  std::mt19937 random(2);  // the C++ standard fixes this sequence
  const auto below_64 = [&] { return static_cast<uint32_t>(random() % 64); };
  Lines lines;
  while (lines.size() < static_cast<size_t>(count)) {
    const std::array<uint32_t, 3> r = {below_64(), below_64(), below_64()};
    if (r[0] % 2 == r[1] % 2 && r[1] % 2 == r[2] % 2) continue;
    lines.push_back(op(text({mnemonic, " R", std::to_string(64 + below_64()), ", R", std::to_string(r[0]), ", R",
                             std::to_string(r[1]), ", R", std::to_string(r[2])})));
  }
  return lines;
}

KernelText& KernelText::options(std::string_view options) {
  options_ = text({" ", options});
  return *this;
}

KernelText& KernelText::declare(std::string_view line) {
  declarations_ += text({line, "\n"});
  return *this;
}

KernelText& KernelText::ctas(uint64_t count) {
  ctas_ = count;
  return *this;
}

KernelText& KernelText::classes(std::string_view lines) {
  classes_ = lines;
  return *this;
}

KernelText& KernelText::role(const std::string& name, uint32_t warps, const Lines& lines) {
  roles_ += text({"role ", name, " warps=", std::to_string(warps), "\n"});
  for (const std::string& line : lines) roles_ += text({line, "\n"});
  roles_ += text({op("EXIT"), "\nend\n"});
  return *this;
}

traces::Kernel KernelText::kernel() const {
  const std::string classes = classes_.empty() ? text({"class all\ngrid all*", std::to_string(ctas_), "\n"}) : classes_;
  const std::string whole =
      text({"kernel ", name_, " architecture=", architecture_, options_, "\n", classes, declarations_, roles_, "end\n"});
  return value_of(traces::parse_kernels(name_, whole)).at(0);
}

traces::Kernel on_one_sub_core(const std::string& architecture, const std::vector<Lines>& warps, const std::string& name) {
  KernelText kernel(name, architecture);
  for (size_t w = 0; w < warps.size(); ++w) {
    kernel.role(text({"warp", std::to_string(w)}), 1, warps[w]);
    kernel.role(text({"idle", std::to_string(w)}), 3, {});
  }
  return kernel.kernel();
}

traces::Kernel on_all_sub_cores(const std::string& architecture, uint32_t warps, const Lines& lines, const std::string& name) {
  return KernelText(name, architecture).role("warps", warps, lines).kernel();
}

configs::Gpu one_sm(const std::string& name) {
  configs::Gpu gpu = value_of(configs::load_gpu(text({WARPFOLD_SOURCE_DIR, "/configs/gpus/", name, ".textproto"})));
  gpu.set_sm_count(1);
  gpu.set_kernel_launch_cycles(0);
  gpu.mutable_sm()->set_cta_launch_cycles(0);
  gpu.mutable_sm()->set_cta_turnaround_cycles(0);
  return gpu;
}

configs::Gpu one_sm_youngest_first(const std::string& name) {
  configs::Gpu gpu = one_sm(name);
  gpu.mutable_sub_core()->set_issue_policy(configs::CGGTY);
  return gpu;
}

uint64_t Replay::busy(std::string_view resource) const {
  for (const sim::ResourceUse& use : outcome.resources) {
    if (use.name == resource) return use.busy;
  }
  throw std::logic_error(text({"no resource ", resource}));
}

sim::Launch launch(const traces::Kernel& kernel, int stream) {
  sim::Launch launch;
  launch.kernel = &kernel;
  launch.stream = stream;
  return launch;
}

sim::Outcome outcome(const configs::Gpu& gpu, const std::vector<sim::Launch>& launches, const sim::Options& options) {
  return value_of(sim::simulate(gpu, launches, options));
}

Replay replay(const configs::Gpu& gpu, const std::vector<sim::Launch>& launches, bool serialise) {
  std::vector<sim::IssueRecord> log;
  Replay result{outcome(gpu, launches, {.serialise = serialise, .issue_log = &log}), {}};
  std::vector<std::map<uint64_t, std::vector<uint64_t>>> warps(launches.size());
  for (const sim::IssueRecord& record : log) {
    if (record.sm_class == 0) warps[static_cast<size_t>(record.launch)][record.warp].push_back(record.cycle);
  }
  for (auto& of_launch : warps) {
    auto& issues = result.issues.emplace_back();
    for (auto& [number, cycles] : of_launch) issues.push_back(std::move(cycles));
  }
  return result;
}

Replay replay(const configs::Gpu& gpu, const traces::Kernel& kernel) { return replay(gpu, std::vector{launch(kernel)}); }

Replay replay_together(const configs::Gpu& gpu, const std::vector<traces::Kernel>& kernels) {
  std::vector<sim::Launch> launches;
  for (const traces::Kernel& kernel : kernels) launches.push_back(launch(kernel, static_cast<int>(launches.size())));
  return replay(gpu, launches);
}

double cycles_per_instruction(const configs::Gpu& gpu, const Lines& lines, int warps) {
  const auto cycles = [&](uint64_t trips) {
    const std::vector<Lines> all(static_cast<size_t>(warps), loop(trips, lines));
    return replay(gpu, on_one_sub_core(gpu.architecture(), all)).outcome.total_cycles;
  };
  constexpr uint64_t kShort = 100;
  constexpr uint64_t kLong = 300;
  const uint64_t steady = cycles(kLong) - cycles(kShort);
  return static_cast<double>(steady) / static_cast<double>((kLong - kShort) * lines.size() * static_cast<size_t>(warps));
}

}  // namespace warpfold::test
