#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string_view>

#include "configs/escape/quoted.h"
#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {
namespace {

// A communication kernel, by a part of its name. A kernel that moves data is simulated as all_reduce.cu, which reads a peer's flag
// `polls` times for a chunk. A kernel without polls waits for its peers and holds its room alone.
struct Communication {
  std::string_view name;
  uint32_t ctas;     // 0: any number
  uint32_t threads;  // of a CTA; likewise its registers and shared memory
  uint32_t registers;
  uint32_t shared_bytes;
  uint64_t polls;
  double chunk_us;  // at most: time that the simulated copy takes for a chunk of each CTA
};
// Room: launches in deepseek-ai/profile-data @4496024, train.json, and in facebookresearch/HolisticTraceAnalysis @f4d0062,
// tests/data.
//
// DeepEP's rate. assumed: a token goes to the 4 nodes and about 7.6 GPUs of DeepSeek-V3's routing (swiglu's grid: 31,104 received
// rows for 4,096 tokens), and each hop reads and writes local memory once. That is 1.2 GB in a dispatch of FP8 and 2.3 GB in a
// combine of BF16. In train.json they take 3.1 to 3.6 and 5.8 to 6.5 ms, so the rates are 370 and 390 GB/s. Each of 20 CTAs reads
// and writes 192 KiB for a chunk, and takes 10.3 us for it at this rate.
//
// NCCL's rate. fitted: 2 and 8 CTAs as the all-reduces of pair_of_row.cc, 24 CTAs between those of 16 and 32 (160 GB/s).
// assumed: a SendRecv and an all-reduce by LL as that all-reduce.
constexpr std::array kCommunication{
    Communication{"::internode::dispatch<", 0, 512, 113, 332, 39, 10.0},
    Communication{"::internode::combine<", 0, 800, 72, 1320, 39, 10.4},
    Communication{"::internode::cached_notify<", 0, 320, 56, 0, 0, 0},
    Communication{"::internode::notify_dispatch<", 0, 256, 56, 0, 0, 0},
    Communication{"::cuda::get_dispatch_layout<", 0, 256, 32, 41984, 0, 0},
    Communication{"ncclKernel_", 2, 640, 96, 42024, 5, 3.5},
    Communication{"ncclKernel_", 8, 640, 96, 42024, 7, 3.8},
    Communication{"ncclKernel_", 24, 640, 96, 42024, 27, 9.7},
};

// Length of the communication over the measured time. assumed: more than communication slows any kernel. A longer communication
// changes nothing, since only the other kernel's end counts.
constexpr double kLonger = 2;
constexpr uint64_t kChunkBytes = 65536;  // that all_reduce.cu moves at a time
constexpr double kWaitCycles = 200;      // at most: of a load from L2, for `opaque` kernels that wait

void add_array(configs::KernelLaunch& launch, const std::string& name, uint64_t bytes) {
  configs::KernelArray& array = *launch.add_array();
  array.set_name(name);
  array.set_bytes(bytes);
  launch.add_parameter()->set_array(name);
}

void add_count(configs::KernelLaunch& launch, const std::string& name, uint64_t value) {
  configs::KernelParameter& parameter = *launch.add_parameter();
  parameter.set_name(name);
  parameter.set_value(static_cast<int64_t>(value));
}

void fill_copy(const Communication& known, uint64_t ctas, double us, const std::string& kernels, configs::Kernel& kernel) {
  const auto chunks = static_cast<uint64_t>(std::ceil(kLonger * us / known.chunk_us)) + 2;
  configs::ListingFile& listing = *kernel.mutable_listing();
  listing.set_path(std::filesystem::absolute(std::filesystem::path(kernels) / "all_reduce_sm_80.sass").string());
  configs::KernelLaunch& launch = *listing.mutable_description();
  launch.set_function("all_reduce");
  launch.set_architecture("sm_80");
  launch.set_runs_on("any");
  launch.mutable_grid()->set_x(static_cast<uint32_t>(ctas));
  launch.mutable_block()->set_x(known.threads);
  launch.set_registers(known.registers);
  launch.set_shared_memory_bytes(known.shared_bytes);
  for (const char* array : {"own", "received", "sent"}) add_array(launch, array, ctas * chunks * kChunkBytes);
  add_array(launch, "flags", kChunkBytes);
  add_count(launch, "chunks", chunks);
  add_count(launch, "polls", known.polls);
}

void fill_wait(const Communication& known, uint64_t ctas, double us, const configs::Gpu& gpu, configs::Kernel& kernel) {
  configs::Opaque& opaque = *kernel.mutable_opaque();
  opaque.set_demand(configs::LATENCY);
  opaque.set_ctas(ctas);
  opaque.set_threads_per_cta(known.threads);
  opaque.set_amount(static_cast<uint64_t>(std::ceil(kLonger * us * gpu.clock_mhz() / kWaitCycles)));
  kernel.mutable_footprint()->set_registers_per_thread(known.registers);
  kernel.mutable_footprint()->set_shared_memory_bytes(known.shared_bytes);
}

}  // namespace

Mapped<configs::Kernel> communication_of_row(const MeasuredRow& row, double us, const configs::Gpu& gpu,
                                             const std::string& kernels) {
  const std::string beside = row.option("launch beside");
  const size_t grid = beside.rfind(" grid=");
  if (grid == std::string::npos) return not_mapped("notes: expected beside NAME grid=CTAs, not " + escape::quoted(beside));
  const RowFacts launch = read_phrases(beside.substr(grid + 1, beside.find(' ', grid + 1) - grid - 1), "").facts;
  const std::string name = beside.substr(0, grid);
  const double ctas = launch.grid_x.value_or(0) * launch.grid_y.value_or(1) * launch.grid_z.value_or(1);
  if (!(ctas >= 1 && ctas <= gpu.sm_count()) || ctas != std::floor(ctas))
    return not_mapped("the kernel beside it is no communication with a CTA an SM at most: " + name);
  const auto count = static_cast<uint32_t>(ctas);
  const auto* const known = std::ranges::find_if(kCommunication, [&](const Communication& each) {
    return name.find(each.name) != std::string::npos && (each.ctas == 0 || each.ctas == count);
  });
  if (known == kCommunication.end()) return not_mapped("the kernel beside it is no known communication: " + name);
  configs::Kernel kernel;
  kernel.set_name("communication");
  kernel.set_stream(1);
  kernel.set_priority(1);  // communication starts before the other kernel
  if (known->polls > 0) {
    fill_copy(*known, count, us, kernels, kernel);
  } else {
    fill_wait(*known, count, us, gpu, kernel);
  }
  return kernel;
}

}  // namespace warpfold::validation
