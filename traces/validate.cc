#include "traces/validate.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>

#include "configs/escape/quoted.h"
#include "isa/architecture.h"
#include "traces/checks.h"

namespace warpfold::traces {

namespace {

constexpr uint32_t kMostWarps = 32;            // 1024 threads; CUDA programming guide, compute capabilities table
constexpr uint32_t kMostClusterCtas = 16;      // H100, non-portable size; CUDA programming guide, "Thread Block Clusters"
constexpr uint32_t kFewestTensorColumns = 32;  // PTX ISA, tcgen05.alloc: powers of two from 32 to 512
constexpr uint32_t kMostTensorColumns = 512;
constexpr uint32_t kMostArrivals = 0xfffff;  // 2^20 - 1; PTX ISA, "mbarrier": range of the pending count

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

const std::string& name_of(const std::string& parameter) { return parameter; }
const std::string& name_of(const auto& named) { return named.name; }

template <typename Named>
Problem check_names(const std::string& kind, Part part, const std::vector<Named>& all) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string& name = name_of(all[i]);
    if (!is_name(name)) {
      return Fault(
          kind + " " + escape::quoted(name) + " is not a name: a letter, then letters, digits, underscores, dots and dashes",
          {part, i});
    }
    if (!seen.insert(name).second) return Fault("the " + kind + " " + name + " exists twice", {part, i});
  }
  return {};
}

Problem check_all_names(const Kernel& kernel) {
  if (kernel.name.empty()) return "a kernel without a name";
  if (Problem problem = check_names("role", Part::kRole, kernel.roles)) return problem;
  if (Problem problem = check_names("ring", Part::kRing, kernel.rings)) return problem;
  if (Problem problem = check_names("cursor", Part::kCursor, kernel.cursors)) return problem;
  if (Problem problem = check_names("stream", Part::kStream, kernel.streams)) return problem;
  if (Problem problem = check_names("class", Part::kClass, kernel.cta_classes)) return problem;
  return check_names("parameter", Part::kParameter, kernel.parameters);
}

Problem check_ring(const Ring& ring) {
  if (ring.depth == 0 || ring.depth > kMostStages) {
    return "ring " + escape::unquoted(ring.name) + ": depth " + std::to_string(ring.depth) + "; a ring has 1-" +
           std::to_string(kMostStages) + " stages";
  }
  if (ring.arrivals == 0 || ring.arrivals > kMostArrivals) {
    return "ring " + escape::unquoted(ring.name) + ": " + std::to_string(ring.arrivals) + " arrivals; a phase takes 1-" +
           std::to_string(kMostArrivals);
  }
  return {};
}

Problem check_cursor(const Cursor& cursor) {
  if (cursor.depth == 0) return "cursor " + cursor.name + ": depth 0; a ring has at least one stage";
  return {};
}

Problem check_stream(const MemoryStream& stream) {
  if (stream.dram_denominator == 0 || stream.dram_numerator > stream.dram_denominator) {
    return "stream " + escape::unquoted(stream.name) + ": " + std::to_string(stream.dram_numerator) + "/" +
           std::to_string(stream.dram_denominator) + " of the bytes from DRAM; a share is between 0/1 and 1/1";
  }
  if (stream.l1_denominator == 0 || stream.l1_numerator > stream.l1_denominator) {
    return "stream " + escape::unquoted(stream.name) + ": " + std::to_string(stream.l1_numerator) + "/" +
           std::to_string(stream.l1_denominator) + " of the requests hit in L1; a share is between 0/1 and 1/1";
  }
  if (stream.moved_numerator == 0 || stream.moved_numerator > stream.moved_denominator) {
    return "stream " + escape::unquoted(stream.name) + ": " + std::to_string(stream.moved_numerator) + "/" +
           std::to_string(stream.moved_denominator) + " of a request's bytes moved; a share is above 0 and at most 1/1";
  }
  if (stream.write && (stream.l1_numerator > 0 || stream.moved_numerator != stream.moved_denominator))
    return "stream " + escape::unquoted(stream.name) + ": stores go to L2; l1 and moved belong to a read stream";
  return {};
}

template <typename Each>
Problem check_each(Part part, const std::vector<Each>& all, Problem (*check)(const Each&)) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (const Problem problem = check(all[i])) return Fault(problem->message, {part, i});
  }
  return {};
}

Problem check_resources(const Kernel& kernel) {
  if (kernel.registers_per_thread < 1 || kernel.registers_per_thread > kMostRegisters) {
    return std::to_string(kernel.registers_per_thread) + " registers a thread; 1-255 exist";
  }
  if (kernel.shared_memory_bytes > kMostSharedMemory) {
    return std::to_string(kernel.shared_memory_bytes) + " bytes of shared memory; a CTA has at most " +
           std::to_string(kMostSharedMemory);
  }
  if (kernel.tensor_memory_columns != 0 &&
      (!std::has_single_bit(kernel.tensor_memory_columns) || kernel.tensor_memory_columns < kFewestTensorColumns ||
       kernel.tensor_memory_columns > kMostTensorColumns)) {
    return std::to_string(kernel.tensor_memory_columns) + " columns of tensor memory; a CTA allocates 32, 64, 128, 256 or 512";
  }
  if (Problem problem = check_each(Part::kRing, kernel.rings, check_ring)) return problem;
  if (kernel.cursors.size() > static_cast<size_t>(kMostCursors)) {
    return std::to_string(kernel.cursors.size()) + " cursors; a warp has at most " + std::to_string(kMostCursors);
  }
  if (Problem problem = check_each(Part::kCursor, kernel.cursors, check_cursor)) return problem;
  return check_each(Part::kStream, kernel.streams, check_stream);
}

Problem check_warps(const Kernel& kernel) {
  if (kernel.roles.empty()) return "no roles";
  uint64_t warps = 0;
  for (size_t i = 0; i < kernel.roles.size(); ++i) {
    const Role& role = kernel.roles[i];
    if (role.warps == 0) return Fault("role " + escape::unquoted(role.name) + ": no warps", {Part::kRole, i});
    warps += role.warps;
  }
  if (warps > kMostWarps) return std::to_string(warps) + " warps in a CTA; it has at most 32 (1024 threads)";
  return {};
}

Problem check_grid(const Kernel& kernel) {
  for (size_t i = 0; i < kernel.cta_classes.size(); ++i) {
    const CtaClass& cta_class = kernel.cta_classes[i];
    if (cta_class.values.size() != kernel.parameters.size()) {
      return Fault("class " + escape::unquoted(cta_class.name) + ": " + std::to_string(cta_class.values.size()) + " values for " +
                       std::to_string(kernel.parameters.size()) + " parameters",
                   {Part::kClass, i});
    }
  }
  if (kernel.grid.empty()) return "an empty grid; a launch has at least one CTA";
  for (const CtaRun& run : kernel.grid) {
    if (run.cta_class >= kernel.cta_classes.size()) {
      return Fault("grid: class " + std::to_string(run.cta_class) + "; the kernel has " +
                       std::to_string(kernel.cta_classes.size()) + ", counted from 0",
                   {Part::kGrid});
    }
    if (run.count == 0) return Fault("grid: 0 CTAs of class " + kernel.cta_classes[run.cta_class].name, {Part::kGrid});
  }
  if (kernel.cluster_ctas < 1 || kernel.cluster_ctas > kMostClusterCtas) {
    return "clusters of " + std::to_string(kernel.cluster_ctas) + " CTAs; 1-16 are possible";
  }
  if (kernel.ctas() % kernel.cluster_ctas != 0) {
    return std::to_string(kernel.ctas()) + " CTAs are not whole clusters of " + std::to_string(kernel.cluster_ctas);
  }
  return {};
}

// Counts the arrivals and the waits at the grid's barrier in the text of a body.
struct GridUse {
  uint64_t arrivals = 0;
  uint64_t waits = 0;
};
GridUse grid_use(const std::vector<Node>& body, const isa::Architecture& architecture) {
  GridUse use;
  for (const Node& node : body) {
    if (const auto* loop = std::get_if<Loop>(&node)) {
      const GridUse inside = grid_use(loop->body, architecture);
      use = {use.arrivals + inside.arrivals, use.waits + inside.waits};
      continue;
    }
    for (const isa::Instruction& each : std::get<Block>(node).code) {
      if (each.effect.barrier < 0) continue;
      const isa::Behaviour behaviour = architecture.info(each).behaviour;
      const bool adds = isa::adds_in_l2(each.mnemonic);
      use.arrivals += adds ? 1 : 0;
      use.waits += !adds && behaviour == isa::Behaviour::kLoadGlobal ? 1 : 0;
    }
  }
  return use;
}

// A phase of the grid's barrier takes one arrival of each CTA.
Problem check_grid_barrier(const Kernel& kernel, const isa::Architecture& architecture) {
  uint64_t arriving = 0;  // warps of a CTA
  uint64_t waits = 0;
  size_t waiting = 0;
  for (size_t i = 0; i < kernel.roles.size(); ++i) {
    const GridUse use = grid_use(kernel.roles[i].body, architecture);
    arriving += use.arrivals > 0 ? kernel.roles[i].warps : 0;
    if (use.waits > 0) waiting = i;
    waits += use.waits;
  }
  if (arriving > 1) return std::to_string(arriving) + " warps of a CTA arrive at the grid's barrier; one may, for all of its CTA";
  if (arriving == 0 && waits > 0)
    return Fault("role " + escape::unquoted(kernel.roles[waiting].name) + " waits at the grid's barrier, at which no warp arrives",
                 {Part::kRole, waiting});
  return {};
}

Problem check_programs(const Kernel& kernel, const isa::Architecture& architecture) {
  for (size_t i = 0; i < kernel.roles.size(); ++i) {
    if (Problem problem = check_role(architecture, kernel, i)) return problem;
  }
  if (Problem problem = check_warpgroups(architecture, kernel)) return problem;
  if (Problem problem = check_grid_barrier(kernel, architecture)) return problem;
  if (issued_instructions(kernel) == std::numeric_limits<uint64_t>::max()) {
    return "the launch issues more instructions than 64 bits can count";
  }
  return {};
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-'; });
}

Expected<void> validate(const Kernel& kernel, const std::string& file, const TextPlaces& places) {
  const auto report = [&](const Fault& fault) {
    const TextPlaces::Position at = places.find(fault.place);
    return fail_at(file, at.line, at.column, "kernel " + escape::unquoted(kernel.name) + ": " + fault.message);
  };
  const Expected<const isa::Architecture*> architecture = isa::Architecture::find(kernel.architecture);
  if (!architecture) return report(architecture.error().message);
  for (const auto check : {check_all_names, check_resources, check_warps, check_grid}) {
    if (const Problem problem = check(kernel)) return report(*problem);
  }
  if (const Problem problem = check_programs(kernel, **architecture)) return report(*problem);
  return {};
}

}  // namespace warpfold::traces
