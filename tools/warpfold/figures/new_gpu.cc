#include "tools/warpfold/figures/new_gpu.h"

#include <cmath>
#include <cstdint>
#include <map>

#include "configs/resources.h"
#include "sim/engine/factor.h"
#include "tools/report/number_text.h"

namespace warpfold::cli {

namespace {

using report::fixed;

// Up to three decimals, as --set takes the number.
std::string shortest(double number) {
  std::string text = fixed(number, 3);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

void say_bandwidth(const configs::Gpu& gpu, const configs::Gpu& own, std::vector<std::string>& lines) {
  const double pins = gpu.dram().bandwidth_gb_per_s();
  const double sheet = gpu.data_sheet().memory_gb_per_s();
  if (own.dram().has_bandwidth_gb_per_s() && !own.dram().has_efficiency_percent()) {
    lines.push_back("dram.bandwidth_gb_per_s " + shortest(pins) + " is that of the pins; reads alone achieve the base's " +
                    shortest(gpu.dram().efficiency_percent()) + " % of it, " +
                    fixed(pins * gpu.dram().efficiency_percent() / 100, 0) + " GB/s (dram.efficiency_percent)");
  }
  const bool stated = own.dram().has_bandwidth_gb_per_s() || own.data_sheet().has_memory_gb_per_s();
  if (stated && sheet > 0 && sheet != pins) {
    lines.push_back("dram.bandwidth_gb_per_s is " + shortest(pins) + " and data_sheet.memory_gb_per_s " + shortest(sheet) +
                    ": the first is simulated, and a result above the second carries a warning");
  }
}

void say_clock(const configs::Gpu& gpu, const configs::Gpu& own, const configs::Gpu& base, std::vector<std::string>& lines) {
  const double boost = gpu.data_sheet().tensor_clock_mhz();
  const double base_boost = base.data_sheet().tensor_clock_mhz();
  const bool base_is_slower = base_boost > 0 && base.clock_mhz() < base_boost;
  if (own.has_clock_mhz() && base_is_slower && boost > 0 && gpu.clock_mhz() >= boost) {
    lines.push_back("clock_mhz " + shortest(gpu.clock_mhz()) + " is not below data_sheet.tensor_clock_mhz, " + shortest(boost) +
                    ": is it the boost clock? The clock that tensor-heavy kernels sustain is " + shortest(base.clock_mhz()) +
                    " of " + shortest(base_boost) + " on the base");
  }
  if (own.data_sheet().has_tensor_clock_mhz() && !own.has_clock_mhz())
    lines.push_back("clock_mhz stays at the base's " + shortest(gpu.clock_mhz()) +
                    "; the clock of the data sheet is not simulated");
}

// An opcode's issue interval is a whole number of cycles, so a factor of its pipe's rate may have less effect than it says.
void say_rates(const configs::Gpu& gpu, const configs::Gpu& own, const isa::Architecture& architecture,
               std::vector<std::string>& lines) {
  for (const isa::PipeRow& row : isa::kMathPipes) {
    const std::string path(row.rate);
    const auto stated = path.empty() ? std::nullopt : configs::number_at(own, path);
    if (!stated) continue;
    const sim::Factor factor(static_cast<uint64_t>(std::llround(*configs::number_at(gpu, path) * sim::Factor::kOne)));
    std::map<uint64_t, std::string> opcodes;  // the first one of each interval
    for (const isa::OpcodeInfo& info : architecture.opcodes()) {
      const bool computes = info.fixed_latency() || info.behaviour == isa::Behaviour::kVariableMath;
      if (info.pipe == row.pipe && computes) opcodes.try_emplace(info.issue_interval, info.name);
    }
    std::string rounded;
    for (const auto& [interval, opcode] : opcodes) {
      const uint64_t cycles = factor.at_rate(interval);
      const double exact = static_cast<double>(interval * sim::Factor::kOne) / static_cast<double>(factor.thousandths());
      if (static_cast<double>(cycles) == exact) continue;
      rounded += (rounded.empty() ? "" : ", ") + opcode + " " + shortest(exact) + " to " + std::to_string(cycles);
    }
    if (!rounded.empty()) lines.push_back(path + " " + shortest(*stated) + ": cycles of an instruction are rounded up: " + rounded);
  }
}

}  // namespace

std::vector<std::string> assumptions_of_new_gpu(const configs::Gpu& gpu, const configs::Gpu& own, const configs::Gpu& base,
                                                const isa::Architecture& architecture) {
  std::vector<std::string> lines;
  say_bandwidth(gpu, own, lines);
  say_clock(gpu, own, base, lines);
  say_rates(gpu, own, architecture, lines);
  return lines;
}

}  // namespace warpfold::cli
