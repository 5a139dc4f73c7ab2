// softmax(Q K^T) V as the FlashAttention-3 library runs it on Hopper: a producer warp that copies Q, K and V by TMA, and two
// consumer warpgroups (three at head_dim 64) of 64 query rows each, which take turns on the tensor cores.
//
//   warp 0            producer        Q of a tile, then K and V blocks into two rings
//   warps 1-3         producer_idle   give their registers away and end
//   warps 4-7, 8-11   consumers       wgmma, softmax, wgmma, epilogue
#include "workloads/flash_attention_3_roles.h"
#include "workloads/workloads.h"

namespace warpfold::workloads {
namespace {

using Plan = FlashAttention3Plan;

void add_synchronisation(traces::Kernel& kernel, const Plan& plan) {
  const uint32_t warps = 4 * plan.consumers();
  kernel.rings = {{"query", 1, 1, false},
                  {"key_full", plan.stages, 1, false},
                  {"key_empty", plan.stages, warps, true},
                  {"value_full", plan.stages, 1, false},
                  {"value_empty", plan.stages, warps, true},
                  {"output", 1, warps, true}};
  kernel.cursors = {{"key", plan.stages, 0}, {"value", plan.stages, 0}, {"tile", 1, 0}, {"output", 1, 0}};
}

void add_grid(traces::Kernel& kernel, const Plan& plan, const configs::Gpu& gpu) {
  const uint64_t tiles = plan.tiles.batch() * plan.tiles.heads() * plan.tiles.query_tiles().size();
  const uint64_t running = std::min<uint64_t>(tiles, gpu.sm_count());
  kernel.parameters = {"tiles"};
  const auto add = [&kernel](uint64_t count, uint64_t ctas) {
    if (ctas == 0) return;
    kernel.grid.push_back({static_cast<uint32_t>(kernel.cta_classes.size()), ctas});
    kernel.cta_classes.push_back({"tiles" + std::to_string(count), {count}});
  };
  add(tiles / running + 1, tiles % running);
  add(tiles / running, running - tiles % running);
}

}  // namespace

Expected<traces::Kernel> make_flash_attention_3(const configs::FlashAttention3& attention, const configs::Gpu& gpu) {
  const auto plan = plan_flash_attention_3(attention, gpu);
  if (!plan) return std::unexpected(plan.error());
  const auto architecture = isa::Architecture::find(gpu.architecture());
  if (!architecture) return std::unexpected(architecture.error());
  traces::Kernel kernel;
  kernel.name = "flash_attention_3";
  kernel.architecture = gpu.architecture();
  kernel.source = "flash_attention_3 " + describe(attention.shape());
  kernel.registers_per_thread = plan->registers_per_thread;
  kernel.shared_memory_bytes = plan->shared_memory_bytes;
  kernel.flops = plan->tiles.forward_flops();
  kernel.streams = {{"Q", false, 1, 1},
                    plan->tiles.key_stream("K", gpu.sm_count(), gpu.l2().bytes()),
                    plan->tiles.key_stream("V", gpu.sm_count(), gpu.l2().bytes()),
                    {"O", true, 1, 1},
                    {"LSE", true, 1, 1}};
  add_synchronisation(kernel, *plan);
  add_grid(kernel, *plan, gpu);
  kernel.roles = {{"producer", 1, attention_producer_body(**architecture, *plan)},
                  {"producer_idle", 3, attention_idle_body(**architecture, *plan)}};
  for (uint32_t group = 0; group < plan->consumers(); ++group) {
    kernel.roles.push_back(
        {"consumer" + std::to_string(group), 4, attention_consumer_body(**architecture, *plan, static_cast<int>(group))});
  }
  return kernel;
}

}  // namespace warpfold::workloads
