#include "tools/warpfold/figures/data_sheet.h"

#include <algorithm>

#include "tools/report/number_text.h"
#include "traces/stats.h"

namespace warpfold::cli {

namespace {

// Rates are compared with the precision at which they are printed, so that the rounding of a published figure does not put a run at
// the peak above it.
constexpr double kRounding = 1.0005;

bool scaled(bool present, double factor) { return present && factor != 1; }

std::string mhz(double clock) { return report::with_thousands(report::fixed(clock, 0)) + " MHz"; }

sim::OperandWidth narrowest_width(const traces::Kernel& kernel) {
  sim::OperandWidth narrowest = sim::OperandWidth::k16;
  const traces::KernelStatistics counts = traces::statistics(kernel);
  for (const traces::RoleStatistics& role : counts.roles) {
    for (const traces::OpcodeCount& opcode : role.opcodes) {
      if (opcode.instructions.issued == 0) continue;
      narrowest = std::max(narrowest, sim::operand_width(opcode.name).value_or(narrowest));
    }
  }
  return narrowest;
}

// Returns the data sheet's TFLOP/s; 0 if it states none.
double peak_of(const configs::DataSheet& sheet, sim::OperandWidth width) {
  switch (width) {
    case sim::OperandWidth::k16:
      return sheet.fp16_tflops();
    case sim::OperandWidth::k8:
      return sheet.fp8_tflops();
    case sim::OperandWidth::k4:
      return sheet.fp4_tflops();
  }
  return 0;
}

}  // namespace

TensorWork tensor_work(const traces::Kernel& kernel) {
  if (kernel.flops == 0) return {};
  return {static_cast<double>(kernel.flops), narrowest_width(kernel)};
}

std::optional<std::string> tensor_warning(const configs::Gpu& gpu, const std::string& kernel, const TensorWork& work,
                                          double time_us) {
  const configs::DataSheet& sheet = gpu.data_sheet();
  const double peak = peak_of(sheet, work.width);
  if (peak == 0 || time_us == 0 || scaled(gpu.sm().tensor().has_scale(), gpu.sm().tensor().scale())) return std::nullopt;
  const double tflops = work.flops / time_us / 1e6;
  if (tflops <= peak * kRounding) return std::nullopt;
  std::string text = "Warning: " + kernel + " reaches " + report::fixed(tflops, 1) + " TFLOPS at " + mhz(gpu.clock_mhz()) +
                     ", more than the " + report::fixed(peak, 1) + " that the data sheet states";
  if (sheet.tensor_clock_mhz() > 0) text += " at " + mhz(sheet.tensor_clock_mhz());
  return text + ".";
}

std::optional<std::string> memory_warning(const configs::Gpu& gpu, double bytes, double time_us) {
  const double peak = gpu.data_sheet().memory_gb_per_s();
  if (peak == 0 || time_us == 0 || scaled(gpu.dram().has_scale(), gpu.dram().scale())) return std::nullopt;
  const double gb_per_s = bytes / time_us / 1e3;
  if (gb_per_s <= peak * kRounding) return std::nullopt;
  return "Warning: DRAM moves " + report::with_thousands(report::fixed(gb_per_s, 0)) + " GB/s, more than the " +
         report::with_thousands(report::fixed(peak, 0)) + " that the data sheet states.";
}

}  // namespace warpfold::cli
