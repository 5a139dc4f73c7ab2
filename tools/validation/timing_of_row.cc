#include <charconv>
#include <utility>

#include "configs/check.h"
#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {

Mapped<RowTiming> timing_of_row(const MeasuredRow& row) {
  RowTiming timing;
  const std::string timer = row.option("timer");
  if (!timer.empty() && timer != "events" && timer != "graph" && timer != "kernel")
    return not_mapped("dims_other: timer=" + timer + "; expected timer=events, timer=graph or timer=kernel");
  if (timer == "events") timing.timer = Timer::kEvents;
  if (timer == "graph") timing.timer = Timer::kGraph;
  if (timer == "kernel") timing.timer = Timer::kProfiler;
  const std::string bytes = row.option("flush_bytes");
  if (bytes.empty()) return timing;
  const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), timing.flush_bytes);
  if (error != std::errc{} || end != bytes.data() + bytes.size() || timing.flush_bytes < 16)
    return not_mapped("dims_other: flush_bytes=" + bytes + "; expected a whole number from 16 on");
  return timing;
}

Mapped<RowTiming> timing_of_row(const MeasuredRow& row, const std::optional<RowTiming>& otherwise) {
  auto timing = timing_of_row(row);
  if (!timing || !otherwise) return timing;
  const uint64_t flush_bytes = row.option("flush_bytes").empty() ? otherwise->flush_bytes : timing->flush_bytes;
  if (row.option("timer").empty()) timing = *otherwise;
  timing->flush_bytes = flush_bytes;
  return timing;
}

void put_first(configs::Kernel kernel, configs::Scenario& scenario) {
  *scenario.add_kernel() = std::move(kernel);
  for (int k = scenario.kernel_size() - 1; k > 0; --k) scenario.mutable_kernel()->SwapElements(k, k - 1);
}

Mapped<void> flush_before(const RowTiming& timing, const RowWork& work, Comparison& comparison) {
  if (timing.flush_bytes == 0) return {};
  if (!work.timing && work.kernels.size() + work.around.size() != 1) return not_mapped("flush_bytes of a row with several kernels");
  comparison.of = work.kernels.front().name();
  // A later kernel of the call finds L2 full of the data that the previous kernel wrote, so each run gets a memset.
  for (Run& run : comparison.runs) {
    configs::Scenario& scenario = run.scenario;
    configs::Kernel flush;
    flush.set_name("flush");
    configs::Elementwise& fill = *flush.mutable_elementwise();
    fill.set_operation(configs::FILL);
    fill.set_element_bytes(4);
    fill.set_elements(timing.flush_bytes / 4);
    fill.set_accesses_per_thread(4);  // a memset is bound by DRAM; with one access per thread, CTA launches would bind it on a B200
    put_first(std::move(flush), scenario);
    if (const auto fault = configs::find_scenario_fault(scenario)) return not_mapped(fault->path + ": " + fault->message);
  }
  return {};
}

Mapped<double> events_us(const configs::Gpu& gpu) {
  if (gpu.has_timed_launch_us()) return gpu.timed_launch_us();
  return not_mapped("timer=events needs a GPU that states timed_launch_us");
}

double start_and_end_us(const configs::Gpu& gpu) { return gpu.graph_launch_cycles() / gpu.clock_mhz(); }

}  // namespace warpfold::validation
