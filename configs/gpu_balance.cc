#include "configs/gpu_balance.h"

#include <cmath>

namespace warpfold::configs {

namespace {

double or_one(bool present, double factor) { return present ? factor : 1; }

std::string whole(double number) { return std::to_string(static_cast<uint64_t>(std::llround(number))); }

// m64n256: 256 columns at so many a cycle, for A's wavefronts and those of 256 columns of B. Full rate, 2 columns: 80 in 128
// cycles.
std::optional<Finding> starved_wgmma(const Sm& sm) {
  constexpr double kColumns = 256;
  const Tensor& tensor = sm.tensor();
  const SharedMemory& shared = sm.shared_memory();
  if (tensor.wgmma_columns_per_clk() == 0 || tensor.wgmma_columns_per_b_wavefront() == 0) return std::nullopt;
  const double columns = tensor.wgmma_columns_per_clk() * or_one(tensor.has_scale(), tensor.scale());
  const double wavefronts = tensor.wgmma_a_wavefronts() + kColumns / tensor.wgmma_columns_per_b_wavefront();
  const double needed = wavefronts * shared.bytes_per_clk() / (kColumns / columns);
  const double given = shared.bytes_per_clk() * or_one(shared.has_scale(), shared.scale());
  if (needed <= given) return std::nullopt;
  const std::string path = tensor.has_scale() ? "sm.tensor.scale" : "sm.tensor.wgmma_columns_per_clk";
  return Finding{path, path + ": the tensor rate needs " + whole(needed) +
                           " B of operands a cycle at m64n256, shared memory gives " + whole(given) +
                           " (sm.shared_memory.bytes_per_clk, scale)"};
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

std::optional<Finding> find_imbalance(const Gpu& gpu) {
  if (auto fault = starved_wgmma(gpu.sm())) return fault;
  if (auto fault = starved_dram(gpu)) return fault;
  return starved_l2(gpu);
}

}  // namespace warpfold::configs
