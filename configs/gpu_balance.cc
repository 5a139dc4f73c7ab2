#include "configs/gpu_balance.h"

#include <cmath>

namespace warpfold::configs {

namespace {

double or_one(bool present, double factor) { return present ? factor : 1; }

std::string whole(double number) { return std::to_string(static_cast<uint64_t>(std::llround(number))); }

Finding starved_tensor(const std::string& path, const std::string& shape, double needed, double given) {
  return {path, path + ": the tensor rate needs " + whole(needed) + " B of operands a cycle at " + shape +
                    ", shared memory gives " + whole(given) + " (sm.shared_memory.bytes_per_clk, scale)"};
}

// Bytes a cycle.
struct Operands {
  double needed;
  double given;
};

// Of m64 by so many columns: A's wavefronts and B's. At two columns a cycle n256 takes 80 wavefronts in 128 cycles. None: the
// machine has no wgmma.
std::optional<Operands> wgmma_operands(const Sm& sm, double columns) {
  const Tensor& tensor = sm.tensor();
  const SharedMemory& shared = sm.shared_memory();
  if (tensor.wgmma_columns_per_clk() == 0 || tensor.wgmma_columns_per_b_wavefront() == 0) return std::nullopt;
  const double per_clk = tensor.wgmma_columns_per_clk() * or_one(tensor.has_scale(), tensor.scale());
  const double wavefronts = tensor.wgmma_a_wavefronts() + columns / tensor.wgmma_columns_per_b_wavefront();
  return Operands{wavefronts * shared.bytes_per_clk() / (columns / per_clk),
                  shared.bytes_per_clk() * or_one(shared.has_scale(), shared.scale())};
}

std::optional<Finding> starved_wgmma(const Sm& sm) {
  const auto widest = wgmma_operands(sm, 256);
  if (!widest || widest->needed <= widest->given) return std::nullopt;
  return starved_tensor(sm.tensor().has_scale() ? "sm.tensor.scale" : "sm.tensor.wgmma_columns_per_clk", "m64n256", widest->needed,
                        widest->given);
}

// M 256, N 256 by a pair of CTAs, the shape with the fewest operands: 128 rows of A and half of B's columns in each SM. Two columns
// a cycle: 64 wavefronts in 128 cycles.
std::optional<Finding> starved_tcgen05(const Sm& sm) {
  constexpr double kRows = 128;
  constexpr double kColumns = 256;
  const Tcgen05& tcgen05 = sm.tcgen05();
  const SharedMemory& shared = sm.shared_memory();
  const bool narrow = tcgen05.narrow_columns_per_clk() > tcgen05.columns_per_clk();
  const double columns = (narrow ? tcgen05.narrow_columns_per_clk() : tcgen05.columns_per_clk()) *
                         or_one(sm.tensor().has_scale(), sm.tensor().scale());
  const double wavefronts = kRows / tcgen05.rows_per_a_wavefront() + kColumns / 2 / tcgen05.columns_per_b_wavefront();
  const double needed = wavefronts * shared.bytes_per_clk() / (kColumns / columns);
  const double given = shared.bytes_per_clk() * or_one(shared.has_scale(), shared.scale());
  if (needed <= given) return std::nullopt;
  const std::string rate = narrow ? "sm.tcgen05.narrow_columns_per_clk" : "sm.tcgen05.columns_per_clk";
  return starved_tensor(sm.tensor().has_scale() ? "sm.tensor.scale" : rate, "M 256, N 256 by a pair of CTAs", needed, given);
}

std::optional<Finding> starved_dram(const Gpu& gpu) {
  const double dram = gpu.dram().bandwidth_gb_per_s() * or_one(gpu.dram().has_scale(), gpu.dram().scale()) * 1e3 / gpu.clock_mhz();
  const double l2 = gpu.l2().read_bytes_per_clk() * or_one(gpu.l2().has_scale(), gpu.l2().scale());
  if (dram <= l2) return std::nullopt;
  return Finding{"dram.bandwidth_gb_per_s", "dram.bandwidth_gb_per_s: DRAM delivers " + whole(dram) + " B a cycle, L2 passes on " +
                                                whole(l2) + " (l2.read_bytes_per_clk, scale)"};
}

std::optional<Finding> starved_l2(const Gpu& gpu) {
  const double network = or_one(gpu.sm().network().has_scale(), gpu.sm().network().scale());
  const double ports = network * gpu.sm().ingress_bytes_per_clk() * gpu.sm_count();
  const double dram = gpu.dram().bandwidth_gb_per_s() * or_one(gpu.dram().has_scale(), gpu.dram().scale()) * 1e3 / gpu.clock_mhz();
  if (dram <= ports) return std::nullopt;
  return Finding{"sm.ingress_bytes_per_clk", "sm.ingress_bytes_per_clk: the ports of all SMs take " + whole(ports) +
                                                 " B a cycle, DRAM delivers " + whole(dram)};
}

}  // namespace

std::vector<std::string> starved_since(const Gpu& gpu, const Gpu& base) {
  std::vector<std::string> starved;
  for (const int columns : {256, 192, 128, 96, 64, 32}) {
    const auto now = wgmma_operands(gpu.sm(), columns);
    const auto before = wgmma_operands(base.sm(), columns);
    if (!now || !before || now->needed <= now->given || before->needed > before->given) continue;
    starved.push_back("m64n" + std::to_string(columns) + " needs " + whole(now->needed) +
                      " B of operands a cycle, shared memory gives " + whole(now->given));
  }
  return starved;
}

std::optional<Finding> find_imbalance(const Gpu& gpu) {
  const bool tensor_memory = gpu.sm().tcgen05().has_tensor_memory_columns();
  if (auto fault = tensor_memory ? starved_tcgen05(gpu.sm()) : starved_wgmma(gpu.sm())) return fault;
  if (auto fault = starved_dram(gpu)) return fault;
  return starved_l2(gpu);
}

}  // namespace warpfold::configs
