#include "tools/knobs/explanations.h"

#include <algorithm>
#include <array>

namespace warpfold::knobs {

namespace {

constexpr std::array kMechanisms{
    Mechanism{
        "order",
        "Warps and CTAs take turns at pipes, queues and room on an SM. A faster part changes their order, and a list schedule of "
        "faster parts may end later ([Graham's anomalies](whatif.md#more-may-be-slower)). A small change of another latency "
        "moves the run as far: times 0.97 and 1.03, latencies move `decode_paged_a100` by -1.2 to +2.7 %, `gemm_v100` by -1.0 "
        "to +1.1 % and `xqa_decode_h200` by -1.7 to +0.4 %."},
    Mechanism{
        "phases",
        "Warpgroups of attention, CTAs of a GEMM that share an SM, and warps of `pipes_a100` alternate between two parts: the "
        "tensor core and the XU, the products and the copies, one pipe and the next. Rates and latencies that are constant "
        "decide the offset between them. With no offset all want the same part at once while the other part idles, and a period "
        "takes the sum of both parts instead of the longer one. Times 0.97 and 1.03, latencies move `gemm_a100` by -0.4 to "
        "+1.7 % and `pipes_a100` by -3.6 to 0.0 %. On silicon, L2 slices, banks and refresh vary the latencies, and the offset "
        "does not stay."},
    Mechanism{"operands",
              "Products read their operands from shared memory before any other request, which gets one wavefront a product "
              "([decision 39](decisions/0039-pairs-before-results.md)). Twice the tensor cores ask for 48 wavefronts of every 32 "
              "cycles. The softmax of the other warpgroup then waits for its shuffles. With `sm.shared_memory.scale` 2 as well, "
              "`flash_attention_3_h100` takes 600,437 cycles instead of 715,462, and 650,084 without either."},
    Mechanism{
        "write-back",
        "DRAM writes evicted lines while no read wants it, and a kernel ends when L2 has its last store. A machine whose reads "
        "arrive in another order evicts another part of the dirty lines before that end, all at DRAM's full rate."},
    Mechanism{
        "waves",
        "CTAs come in waves. Another number of SMs, or of CTAs an SM, leaves another part of the last wave empty; a number of CTAs "
        "that is no multiple of the sub-cores leaves one sub-core more warps than the others."},
    Mechanism{
        "caches",
        "As many rows are read at a time as there are CTAs on the chip, each three times. L2 has all of 66 rows and not all of "
        "119, so that half of the SMs find in L2 what more of them read from DRAM again."},
};

// Explains the anomalies of `field` in `scenario`. Without a field: of every field that has no row for the scenario.
struct Explained {
  std::string_view scenario;
  std::string_view field;
  std::string_view mechanism;
};

constexpr std::array kExplained{
    Explained{"copy_h100", "", "write-back"},
    Explained{"decode_paged_a100", "", "order"},
    Explained{"flash_attention_2_a100", "", "phases"},
    Explained{"flash_attention_3_h100", "", "phases"},
    Explained{"flash_attention_3_h100", "sm.tensor.scale", "operands"},
    Explained{"flash_attention_3_h100", "sm.tensor.wgmma_columns_per_clk", "operands"},
    Explained{"flash_attention_4_b200", "", "phases"},
    Explained{"gemm_a100", "", "phases"},
    Explained{"gemm_power_a100", "", "phases"},
    Explained{"gemm_relu_h100", "", "phases"},
    Explained{"gemm_v100", "", "order"},
    Explained{"norm_h100", "", "write-back"},
    Explained{"pipes_a100", "", "phases"},
    Explained{"pipes_a100", "sm.cta_slots", "waves"},
    Explained{"pipes_a100", "sm.ctas.capacity_scale", "waves"},
    Explained{"qkv_philox_h100", "", "order"},
    Explained{"softmax_h100", "sm_count", "caches"},
    Explained{"xqa_decode_h200", "", "order"},
};

struct Inert {
  std::string_view field;
  std::string_view why;
};

constexpr std::string_view kOnPaper = "nothing is simulated by it: a result that is faster than the data sheet carries a warning";

constexpr std::array kInertFields{
    Inert{"timed_launch_us",
          "nothing is simulated by it: `validate` adds it to a simulated time that is held to one between two events"},
    Inert{"data_sheet.fp16_tflops", kOnPaper},
    Inert{"data_sheet.fp8_tflops", kOnPaper},
    Inert{"data_sheet.tensor_clock_mhz", kOnPaper},
    Inert{"data_sheet.memory_gb_per_s", kOnPaper},
    Inert{"data_sheet.fp4_tflops", kOnPaper},
    Inert{"power.response_ms",
          "nothing is simulated by it: a result names the phases that are longer, for which the clock would follow"},
};

}  // namespace

std::span<const Mechanism> mechanisms() { return kMechanisms; }

std::optional<std::string_view> mechanism_of(const Anomaly& anomaly) {
  std::optional<std::string_view> of_scenario;
  for (const Explained& row : kExplained) {
    if (row.scenario != anomaly.scenario) continue;
    if (row.field == anomaly.field) return row.mechanism;
    if (row.field.empty()) of_scenario = row.mechanism;
  }
  return of_scenario;
}

std::optional<std::string_view> why_inert(std::string_view field) {
  const auto* const found = std::ranges::find(kInertFields, field, &Inert::field);
  return found == kInertFields.end() ? std::nullopt : std::optional(found->why);
}

}  // namespace warpfold::knobs
