#include <filesystem>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/launch_sizes.h"
#include "configs/load.h"
#include "tools/validation/operator_rows.h"

namespace warpfold::validation {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kElementBytes = 4;  // of the passes before a kernel
constexpr std::string_view kFamily = "memory-bound";
constexpr uint64_t kFlushBytes = 268435456;  // triton.testing.do_bench and cuDNN's script clear this much before a call

bool says(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

std::string read_of(const configs::Gpu& gpu) { return gpu.architecture() == "sm_70" ? "stream_read_sm_70" : "stream_read"; }

// Makes passes over the bytes that the program touches before the launch, and tells the kernel which of them are its tensors.
Mapped<std::vector<configs::Kernel>> kernels_before(const OperatorLaunch& launch, const configs::Gpu& gpu,
                                                    const std::string& folder, configs::Kernel& kernel) {
  std::vector<configs::Kernel> before;
  for (const Touched& touched : launch.before) {
    OperatorLaunch pass{read_of(gpu), {"parameter.elements.value=" + std::to_string(touched.bytes / 8)}};
    if (touched.written) {
      configs::Elementwise& fill = pass.pass.emplace();
      fill.set_operation(configs::FILL);
      fill.set_element_bytes(kElementBytes);
      fill.set_elements(touched.bytes / kElementBytes);
    }
    auto made = operator_kernel(pass, folder);
    if (!made) return std::unexpected(made.error());
    made->set_name("before" + std::to_string(before.size()));
    if (!touched.stream.empty()) {
      kernel.set_l2(configs::AS_LEFT);
      configs::SharedTensor& tensor = *kernel.add_tensor();
      tensor.set_stream(touched.stream);
      tensor.set_of(made->name() + ".out");
    }
    before.push_back(*std::move(made));
  }
  return before;
}

// A CTA of a pass ends with its last warp, and usually at least one of several warps reads data in L2's far partition, or in DRAM
// behind it. The latency of the far partition exceeds that of the near one by the difference that Luo et al. measured (A100: 357
// against 208 cycles; H800: 414 against 258).
std::vector<std::string> far_partition(const configs::Gpu& gpu) {
  const uint32_t more = gpu.architecture() == "sm_80" ? 149 : gpu.architecture() == "sm_90" ? 156 : 0;
  if (more == 0) return {};
  return {"gpu.l2.hit_latency_cycles=" + std::to_string(gpu.l2().hit_latency_cycles() + more),
          "gpu.dram.latency_cycles=" + std::to_string(gpu.dram().latency_cycles() + more)};
}

// gpu-stream (RRZE-HPC/gpu-benches, gpu-stream/main.cu): one element per thread, doubles, arrays of 2^27 + 2, and as much shared
// memory as limits an SM to the stated number of CTAs.
Mapped<RowWork> stream_of_row(const MeasuredRow& row, const configs::Gpu& gpu, const std::string& folder) {
  constexpr uint64_t kElements = uint64_t{1} << 27;
  const std::string& kernel = row.text("kernel");
  if (!row.facts().block_x || !row.facts().ctas_per_sm) return not_mapped("blockSize and blocks/SM are not stated");
  const auto threads = static_cast<uint64_t>(*row.facts().block_x);
  const auto ctas = static_cast<uint64_t>(*row.facts().ctas_per_sm);
  if (threads == 0 || threads > 1024 || ctas == 0) return not_mapped("blockSize and blocks/SM: from 1 to 1024, and from 1");
  RowWork work;
  work.follows = {"block", "CTAs an SM"};
  work.settings = {"gpu.sm.cta_slots=" + std::to_string(ctas)};
  work.shape = std::to_string(threads) + " threads";
  if (says(kernel, "read")) {
    auto read = operator_kernel(
        {read_of(gpu), {"block.x=" + std::to_string(threads), "grid.x=" + std::to_string((kElements + threads - 1) / threads)}, {}},
        folder);
    if (!read) return std::unexpected(read.error());
    work.kernels.push_back(*std::move(read));
    work.work = 8.0 * kElements;
    return work;
  }
  work.kernels.emplace_back().set_name("pass");
  configs::Elementwise& pass = *work.kernels.back().mutable_elementwise();
  pass.set_elements(kElements);
  pass.set_element_bytes(8);
  pass.set_access_bytes(8);
  pass.set_threads_per_cta(static_cast<uint32_t>(threads));
  if (says(kernel, "init")) {
    pass.set_operation(configs::FILL);
  } else if (says(kernel, "scale")) {
    pass.set_operation(configs::SCALE);
  } else if (says(kernel, "triad")) {
    pass.set_operation(configs::TRIAD);
  } else {
    return not_mapped("no pass of gpu-stream is called " + escape::quoted(kernel));
  }
  const double arrays = pass.operation() == configs::FILL ? 1 : pass.operation() == configs::SCALE ? 2 : 3;
  work.work = arrays * 8 * kElements;
  return work;
}

Mapped<RowWork> call_of_row(const MeasuredRow& row, const configs::Gpu& gpu, const std::string& folder) {
  const auto read = operator_row(row);
  if (!read) return std::unexpected(read.error());
  const auto call = operator_call(*read, gpu);
  if (!call) return std::unexpected(call.error());
  RowWork work;
  work.family = read->kernel_known ? kFamily : "memory-bound, nearest relative of a kernel that is not known";
  for (const OperatorLaunch& launch : call->launches) {
    auto kernel = operator_kernel(launch, folder);
    if (!kernel) return std::unexpected(kernel.error());
    work.kernels.push_back(*std::move(kernel));
  }
  work.work = call->rate_bytes;
  work.shape = read->type + " " + std::to_string(read->rows) + "x" + std::to_string(read->columns);
  // cuDNN's script adds up the kernels of a profile; the other sources time a call between two events.
  work.timing = RowTiming{.timer = read->profiled ? Timer::kProfiler : Timer::kEvents, .flush_bytes = kFlushBytes};
  work.gaps = !read->profiled;
  return work;
}

// vidur and LLMServingSim add up the kernels of a profile; TokenWeave times calls between events, each behind a memset.
Mapped<RowWork> vllm_of_row(const MeasuredRow& row, const configs::Gpu& gpu, const std::string& folder) {
  constexpr uint64_t kTokenWeaveFlushBytes = 256000000;  // artifact/figure_4_10/bench.py
  const auto read = vllm_row(row);
  if (!read) return std::unexpected(read.error());
  const OperatorCall call = vllm_call(*read, gpu);
  RowWork work;
  for (const OperatorLaunch& launch : call.launches) {
    auto kernel = operator_kernel(launch, folder);
    if (!kernel) return std::unexpected(kernel.error());
    auto before = kernels_before(launch, gpu, folder, *kernel);
    if (!before) return std::unexpected(before.error());
    work.kernels.push_back(*std::move(kernel));
    work.before.push_back(*std::move(before));
  }
  work.calls = call.calls;
  work.shape = row.text("dtype") + " " + std::to_string(read->tokens) + " tokens of " + std::to_string(read->hidden);
  const bool events = read->profile == VllmProfile::kTokenWeave;
  work.timing = RowTiming{.timer = events ? Timer::kEvents : Timer::kProfiler, .flush_bytes = events ? kTokenWeaveFlushBytes : 0};
  return work;
}

}  // namespace

Mapped<configs::Kernel> operator_kernel(const OperatorLaunch& launch, const std::string& folder) {
  configs::Kernel kernel;
  kernel.set_name("pass");
  if (launch.pass) {
    *kernel.mutable_elementwise() = *launch.pass;
    return kernel;
  }
  const fs::path file = fs::path(folder) / (launch.name + ".textproto");
  auto description = configs::load_kernel_launch(file.string(), launch.settings);
  if (!description && !fs::exists(file)) return not_mapped("no operator " + launch.name);
  if (!description) return mistaken(description.error());
  if (const auto sized = configs::with_sizes(*description, {}); !sized)
    return not_mapped(launch.name + ": " + sized.error().message);
  kernel.mutable_listing()->set_path(fs::absolute(fs::path(folder) / description->listing()).string());
  *kernel.mutable_listing()->mutable_description() = *std::move(description);
  return kernel;
}

Mapped<RowWork> operator_of_row(const MeasuredRow& row, const configs::Gpu& gpu, const std::string& folder) {
  auto work = row.text("kernel").starts_with("stream ") ? stream_of_row(row, gpu, folder)
              : of_vllm(row)                            ? vllm_of_row(row, gpu, folder)
                                                        : call_of_row(row, gpu, folder);
  if (!work) return work;
  if (work->family.empty()) work->family = kFamily;
  work->kernel = row.text("kernel");
  work->rate_unit = "GB/s";
  for (std::string& setting : far_partition(gpu)) work->settings.push_back(std::move(setting));
  // Passes stay far below the power limit, so they run at the highest clock.
  work->clock_mhz = gpu.power().has_clock_limit_mhz() ? gpu.power().clock_limit_mhz() : gpu.clock_mhz();
  return work;
}

}  // namespace warpfold::validation
