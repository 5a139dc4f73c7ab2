#include "tools/warpfold/figures/tensor_rate.h"

#include <array>
#include <string_view>

#include "isa/architecture.h"

namespace warpfold::cli {

namespace {

struct MmaSync {
  std::string_view opcode;
  double flop;  // per instruction
};
// m16n8k16, m16n8k8, and a quarter of Volta's four products of m8n8k4, which take four HMMA steps (isa/tables/sm_70.textproto).
constexpr std::array kMmaSync{MmaSync{"HMMA.16816.F32", 2.0 * 16 * 8 * 16}, MmaSync{"HMMA.1688.F32", 2.0 * 16 * 8 * 8},
                              MmaSync{"HMMA.884.F32", 4 * 2.0 * 8 * 8 * 4 / 4}};

double flop_per_clk_of_sm(const configs::Gpu& gpu, const isa::Architecture& architecture) {
  if (gpu.sm().has_tcgen05()) return 2.0 * 128 * 16 * gpu.sm().tcgen05().columns_per_clk();
  if (architecture.resolve("HGMMA")) return 2.0 * 64 * 16 * gpu.sm().tensor().wgmma_columns_per_clk();
  for (const MmaSync& each : kMmaSync) {
    if (const auto mma = architecture.resolve(each.opcode))
      return each.flop * gpu.sm().sub_cores() / architecture.opcodes()[*mma].issue_interval;
  }
  return 0;
}

}  // namespace

double tensor_flop_per_clk(const configs::Gpu& gpu) {
  const auto architecture = isa::Architecture::find(gpu.architecture());
  if (!architecture) return 0;
  const configs::Tensor& tensor = gpu.sm().tensor();
  return flop_per_clk_of_sm(gpu, **architecture) * (tensor.has_scale() ? tensor.scale() : 1) * gpu.sm_count();
}

}  // namespace warpfold::cli
