#include "tools/report/names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "configs/pipes.h"

namespace warpfold::report {

namespace {

using Names = std::pair<std::string_view, std::string_view>;

// Resources other than pipes, whose words are in configs/pipes.h.
constexpr std::array kResources{
    Names{"issue_slot", "issue slots"},
    Names{"register_read_port", "register read ports"},
    Names{"register_read_ports", "register read ports"},
    Names{"register_write_port", "register write ports"},
    Names{"register_write_ports", "register write ports"},
    Names{"memory_queue", "the memory-I/O queue"},
    Names{"memory_issue", "the memory-I/O stage"},
    Names{"shared_memory", "shared memory"},
    Names{"bulk_copy", "the bulk-copy engine (TMA)"},
    Names{"sm_ingress", "the path into the SM"},
    Names{"sm_egress", "the path out of the SM"},
    Names{"l2_read", "L2 reads"},
    Names{"l2_write", "L2 writes"},
    Names{"l2", "L2"},
    Names{"dram", "DRAM"},
    Names{"grid", "the grid (fewer CTAs than SMs)"},
    Names{"clock", "the clock (issue and fixed latencies)"},
};

constexpr std::array kStates{
    Names{"selected", "issued an instruction"},
    Names{"wait", "the fixed latency of their last instruction"},
    Names{"not_selected", "other warps that were issued"},
    Names{"dispatch_stall", "register read ports"},
    Names{"math_pipe_throttle", "a math pipe"},
    Names{"mio_throttle", "the shared-memory queue"},
    Names{"lg_throttle", "the global-memory queue"},
    Names{"short_scoreboard", "shared memory or an mbarrier"},
    Names{"long_scoreboard", "global memory"},
    Names{"barrier", "a barrier"},
    Names{"gmma", "wgmma to finish"},
    Names{"no_instruction", "instructions"},
    Names{"branch_resolving", "a branch"},
    Names{"sleeping", "a timer"},
    Names{"drain", "stores, or the rest of their CTA"},
};

constexpr std::array kPolicies{
    Names{"SEQUENTIAL", "Run the kernels one after the other"},
    Names{"CONCURRENT", "Run the kernels side by side"},
    Names{"PRIORITY", "Run the kernels side by side, by priority"},
    Names{"CARVE_OUT", "Run the kernels side by side, a share of each SM reserved"},
    Names{"SLICED", "Run the kernels side by side, with quotas of each SM"},
    Names{"SM_PARTITION", "Give each kernel SMs of its own"},
    Names{"PIPELINED", "Run the kernels in segments along the sequence"},
    Names{"WARP_SPECIALIZED", "Put the warps of one kernel into the CTAs of the other"},
    Names{"FUSED", "Fuse the random numbers into attention"},
    Names{"CTA_INTERLEAVED", "Interleave the CTAs of the kernels in one launch"},
    Names{"WARP_INTERLEAVED", "Interleave the warps of the kernels in one CTA"},
};

// Policies under which the kernels of a scenario run side by side unchanged.
constexpr std::array<std::string_view, 4> kSideBySide{"CONCURRENT", "PRIORITY", "CARVE_OUT", "SLICED"};

std::string words_of(std::string_view name, const auto& table) {
  const auto* const found = std::ranges::find(table, name, &Names::first);
  if (found != table.end()) return std::string(found->second);
  std::string text(name);
  std::ranges::replace(text, '_', ' ');
  return text;
}

enum class Kind { kGemm, kRandomNumbers, kAttention, kOther };

Kind kind_of(const configs::Kernel& kernel) {
  switch (kernel.workload_case()) {
    case configs::Kernel::kPhilox:
      return Kind::kRandomNumbers;
    case configs::Kernel::kHopperGemm:
    case configs::Kernel::kBlackwellGemm:
    case configs::Kernel::kAmpereGemm:
      return Kind::kGemm;
    case configs::Kernel::kFlashAttention2:
    case configs::Kernel::kFlashAttention3:
    case configs::Kernel::kFlashAttention4:
      return Kind::kAttention;
    default:
      return Kind::kOther;
  }
}

// Returns the kind of the scenario's kernel whose work this kernel does. Results of the limiter model contain the scenario's
// kernels themselves.
Kind kind_of(const configs::Result& result, const configs::KernelResult& kernel) {
  const std::string& name = kernel.of().empty() ? kernel.name() : kernel.of();
  for (const configs::Kernel& each : result.provenance().scenario().kernel()) {
    if (each.name() == name) return kind_of(each);
  }
  return Kind::kOther;
}

}  // namespace

std::string resource_words(std::string_view resource) {
  const auto* const pipe = std::ranges::find(configs::kPipeTable, resource, &configs::PipeRow::name);
  if (pipe != configs::kPipeTable.end() && !pipe->words.empty()) return std::string(pipe->words);
  return words_of(resource, kResources);
}
std::string state_words(std::string_view state) { return words_of(state, kStates); }

std::string kernel_words(const configs::Result& result, std::string_view kernel) {
  const auto found = std::ranges::find(result.kernels(), kernel, &configs::KernelResult::name);
  if (found == result.kernels().end()) return std::string(kernel);
  const Kind kind = kind_of(result, *found);
  const auto alike = std::ranges::count_if(result.kernels(), [&](const auto& each) { return kind_of(result, each) == kind; });
  if (alike > 1 || found->also_size() > 0) return std::string(kernel);
  switch (kind) {
    case Kind::kGemm:
      return "the GEMM";
    case Kind::kRandomNumbers:
      return "the random numbers";
    case Kind::kAttention:
      return "attention";
    case Kind::kOther:
      break;
  }
  return std::string(kernel);
}

std::string policy_words(const configs::Result& result) {
  std::string numbers;
  std::string host;
  for (const configs::KernelResult& kernel : result.kernels()) {
    const Kind kind = kind_of(result, kernel);
    if (kind == Kind::kRandomNumbers) numbers = kernel_words(result, kernel.name());
    if (kind == Kind::kGemm) host = host.empty() ? kernel_words(result, kernel.name()) : "the GEMMs";
  }
  if (places_side_by_side(result.policy()) && !numbers.empty() && !host.empty()) return "Hide " + numbers + " under " + host;
  const auto* const known = std::ranges::find(kPolicies, result.policy(), &Names::first);
  return known == kPolicies.end() ? "Run under " + result.policy() : std::string(known->second);
}

bool places_side_by_side(std::string_view policy) { return std::ranges::find(kSideBySide, policy) != kSideBySide.end(); }

std::string possessive(const std::string& words) { return words + (words.ends_with('s') ? "'" : "'s"); }

std::string capitalised(std::string words) {
  if (words.starts_with("the ") || words == "attention") {
    words.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(words.front())));
  }
  return words;
}

}  // namespace warpfold::report
