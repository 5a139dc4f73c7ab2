#include "workloads/policies/join.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "configs/escape/quoted.h"
#include "isa/architecture.h"
#include "workloads/common/cta_footprint.h"
#include "workloads/common/program.h"
#include "workloads/policies/instructions.h"

namespace warpfold::policies {
namespace {

constexpr uint64_t kMostCtas = uint64_t{1} << 24;  // per kernel: the grid is written out CTA by CTA
constexpr uint32_t kNone = UINT32_MAX;             // the joined CTA holds no CTA of this part

uint32_t round_up(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

std::string words_of(const traces::Kernel& kernel) { return "kernel " + escape::quoted(kernel.name); }

// CTAs of a launch in order, by class.
class CtasInOrder {
 public:
  explicit CtasInOrder(const traces::Kernel& kernel) {
    for (const traces::CtaRun& run : kernel.grid) classes_.insert(classes_.end(), run.count, run.cta_class);
  }
  bool any() const { return next_ < classes_.size(); }
  uint32_t take() { return any() ? classes_[next_++] : kNone; }

 private:
  std::vector<uint32_t> classes_;
  size_t next_ = 0;
};

// One CTA of one of the two kernels inside the joined CTA. Warps, streams, cursors, rings, parameters and barriers of its kernel
// are renumbered from its first ones.
struct Part {
  const traces::Kernel* kernel;
  std::string prefix;    // prefix of the part's names
  uint32_t first_warp;   // first warp in the joined CTA
  int16_t first_stream;  // joined index of its stream 0
  int16_t first_cursor;  // joined index of its cursor 0
  int16_t first_ring = 0;
  int32_t first_parameter = 0;  // 1 or 0 for present or not, followed by the kernel's own parameters
  std::map<int16_t, int16_t> barriers;
};

class Joiner {
 public:
  explicit Joiner(const traces::Kernel& first, const traces::Kernel& second)
      : architecture_(**isa::Architecture::find(first.architecture)) {
    joined_.name = first.name;
    joined_.architecture = first.architecture;
    joined_.source = first.source + " + " + second.source;
    joined_.flops = first.flops + second.flops;
    joined_.registers_per_thread = std::max(first.registers_per_thread, second.registers_per_thread);
  }

  // Adds `copies` CTAs of a kernel side by side, from `first_warp` on.
  void add(const traces::Kernel& kernel, uint32_t first_warp, uint32_t copies) {
    const auto first_stream = static_cast<int16_t>(joined_.streams.size());
    const auto first_cursor = static_cast<int16_t>(joined_.cursors.size());
    append(joined_.streams, kernel.streams, kernel.name);
    append(joined_.cursors, kernel.cursors, kernel.name);
    for (uint32_t copy = 0; copy < copies; ++copy) {
      Part& part = parts_.emplace_back(Part{.kernel = &kernel,
                                            .prefix = copies > 1 ? kernel.name + "." + std::to_string(copy) : kernel.name,
                                            .first_warp = first_warp + copy * kernel.warps_per_cta(),
                                            .first_stream = first_stream,
                                            .first_cursor = first_cursor,
                                            .barriers = {}});
      part.first_ring = static_cast<int16_t>(joined_.rings.size());
      append(joined_.rings, kernel.rings, part.prefix);
      part.first_parameter = static_cast<int32_t>(joined_.parameters.size());
      joined_.parameters.push_back(part.prefix + ".there");
      for (const std::string& parameter : kernel.parameters) joined_.parameters.push_back(part.prefix + "." + parameter);
    }
  }

  // Appends a CTA with the given class for each part; kNone: the part is absent.
  void add_cta(const std::vector<uint32_t>& of_parts) {
    const auto [place, is_new] = known_.try_emplace(of_parts, static_cast<uint32_t>(joined_.cta_classes.size()));
    if (is_new) joined_.cta_classes.push_back(class_of(of_parts));
    if (!joined_.grid.empty() && joined_.grid.back().cta_class == place->second) {
      ++joined_.grid.back().count;
    } else {
      joined_.grid.push_back({place->second, 1});
    }
  }

  size_t parts() const { return parts_.size(); }

  Expected<traces::Kernel> joined(uint32_t shared_memory_bytes) {
    joined_.shared_memory_bytes = shared_memory_bytes;
    if (const auto barriers = number_barriers(); !barriers) return std::unexpected(barriers.error());
    make_roles();
    return std::move(joined_);
  }

 private:
  template <typename Named>
  static void append(std::vector<Named>& to, const std::vector<Named>& from, const std::string& prefix) {
    for (const Named& each : from) {
      to.push_back(each);
      to.back().name = prefix + "." + each.name;
    }
  }

  isa::Behaviour behaviour(const isa::Instruction& instruction) const { return architecture_.info(instruction).behaviour; }

  // The class of a joined CTA. An absent part takes the values of its kernel's first class; its loops never run.
  traces::CtaClass class_of(const std::vector<uint32_t>& of_parts) const {
    traces::CtaClass joined;
    for (size_t p = 0; p < parts_.size(); ++p) {
      const bool there = of_parts[p] != kNone;
      const traces::CtaClass& own = parts_[p].kernel->cta_classes[there ? of_parts[p] : 0];
      if (there) joined.name.append(joined.name.empty() ? "" : ".").append(parts_[p].prefix).append(".").append(own.name);
      joined.values.push_back(there ? 1 : 0);
      joined.values.insert(joined.values.end(), own.values.begin(), own.values.end());
    }
    return joined;
  }

  // Numbers named barriers so that parts share none. A barrier of "all threads" means those of the part's own CTA.
  Expected<void> number_barriers() {
    int16_t next = 0;
    for (Part& part : parts_) {
      for (const traces::Role& role : part.kernel->roles) {
        std::vector<traces::Node> body = role.body;
        for_each_instruction(body, [&](const isa::Instruction& instruction) {
          if (!is_named_barrier(behaviour(instruction))) return;
          if (part.barriers.try_emplace(std::max<int16_t>(instruction.effect.barrier, 0), next).second) ++next;
        });
      }
    }
    if (next <= kNamedBarriers) return {};
    return fail("kernels " + escape::quoted(parts_.front().kernel->name) + " and " + escape::quoted(parts_.back().kernel->name) +
                " need more than the 16 named barriers of a CTA");
  }

  void move(const Part& part, isa::Instruction& instruction) const {
    isa::Effect& effect = instruction.effect;
    if (effect.stream >= 0) effect.stream = static_cast<int16_t>(effect.stream + part.first_stream);
    if (effect.cursor >= 0) effect.cursor = static_cast<int16_t>(effect.cursor + part.first_cursor);
    if (is_named_barrier(behaviour(instruction))) {
      effect.barrier = part.barriers.at(std::max<int16_t>(effect.barrier, 0));
      if (effect.count == 0) effect.count = static_cast<uint16_t>(part.kernel->warps_per_cta() * kWarpThreads);
    } else if (effect.barrier >= 0) {
      effect.barrier = static_cast<int16_t>(effect.barrier + part.first_ring);
    }
  }

  static void move_parameters(std::vector<traces::Node>& body, int32_t by) {
    for (traces::Node& node : body) {
      auto* loop = std::get_if<traces::Loop>(&node);
      if (loop == nullptr) continue;
      if (loop->trips.parameter >= 0) loop->trips.parameter += by;
      move_parameters(loop->body, by);
    }
  }

  // Wraps a role's program in a loop of one trip if the part is present, and of no trip if it is absent.
  traces::Loop program_of(const Part& part, const traces::Role& role) const {
    traces::Loop program{.trips = {.parameter = part.first_parameter}, .body = role.body};
    const isa::Instruction nothing = workloads::Code(architecture_).add("NOP").instructions().front();
    for_each_instruction(program.body, [&](isa::Instruction& instruction) {
      if (behaviour(instruction) == isa::Behaviour::kExit) {
        const isa::ControlCode control = instruction.control;
        instruction = nothing;
        instruction.control = control;
      }
      move(part, instruction);
    });
    move_parameters(program.body, part.first_parameter + 1);
    return program;
  }

  struct Span {
    const Part* part;
    const traces::Role* role;
    uint32_t first, last;  // warps of the joined CTA: [first, last)
  };
  std::vector<Span> spans() const {
    std::vector<Span> spans;
    for (const Part& part : parts_) {
      uint32_t warp = part.first_warp;
      for (const traces::Role& role : part.kernel->roles) {
        spans.push_back({&part, &role, warp, warp + role.warps});
        warp += role.warps;
      }
    }
    return spans;
  }

  // Combines warps with equal programs into one role.
  void make_roles() {
    const std::vector<Span> all = spans();
    std::set<uint32_t> borders;
    for (const Span& span : all) borders.insert({span.first, span.last});
    for (auto from = borders.begin(); std::next(from) != borders.end(); ++from) {
      traces::Role role{.name = "", .warps = *std::next(from) - *from, .body = {}};
      role.body.emplace_back(line_of({"NOP"}));
      for (const Span& span : all) {
        if (span.first > *from || span.last <= *from) continue;
        role.name.append(role.name.empty() ? "" : "-").append(span.part->prefix).append(".").append(span.role->name);
        role.body.emplace_back(program_of(*span.part, *span.role));
        role.body.emplace_back(line_of({"NOP"}));
      }
      role.name.append("-").append(std::to_string(*from));
      role.body.back() = line_of({"NOP", "EXIT"});
      joined_.roles.push_back(std::move(role));
    }
  }

  traces::Block line_of(std::initializer_list<std::string_view> lines) const {
    workloads::Code code(architecture_);
    for (const std::string_view each : lines) code.add(each);
    return workloads::block_of(code);
  }

  const isa::Architecture& architecture_;
  traces::Kernel joined_;
  std::vector<Part> parts_;
  std::map<std::vector<uint32_t>, uint32_t> known_;  // class of the joined kernel by the classes of its parts
};

Expected<void> check_joinable(const traces::Kernel& kernel) {
  if (kernel.cluster_ctas > 1) return fail(words_of(kernel) + " has clusters of CTAs");
  if (kernel.ctas() > kMostCtas) return fail(words_of(kernel) + " has more than " + std::to_string(kMostCtas) + " CTAs");
  if (workloads::moves_registers(kernel))
    return fail(words_of(kernel) + " moves registers between its warpgroups, which a joined CTA has no rule for");
  return {};
}

Expected<void> check_joinable(const traces::Kernel& first, const traces::Kernel& second) {
  if (first.architecture != second.architecture) return fail(words_of(second) + " is for " + second.architecture);
  if (const auto joinable = check_joinable(first); !joinable) return joinable;
  return check_joinable(second);
}

uint64_t parts_up(uint64_t whole, uint64_t part) { return (whole + part - 1) / part; }

}  // namespace

Expected<traces::Kernel> interleave_ctas(const traces::Kernel& first, const traces::Kernel& second, const Tickets& tickets,
                                         uint32_t sms) {
  if (const auto joinable = check_joinable(first, second); !joinable) return std::unexpected(joinable.error());
  const uint32_t warps = std::max(first.warps_per_cta(), second.warps_per_cta());
  const std::array kernels{&first, &second};
  std::array<uint32_t, 2> copies{};
  std::array<uint64_t, 2> slots{};  // number of joined CTAs
  uint32_t shared_memory = 0;
  Joiner joiner(first, second);
  for (size_t k = 0; k < kernels.size(); ++k) {
    copies[k] = warps / kernels[k]->warps_per_cta();
    slots[k] = parts_up(kernels[k]->ctas(), copies[k]);
    shared_memory = std::max(shared_memory, copies[k] * round_up(kernels[k]->shared_memory_bytes, kSharedMemoryAlignment));
    joiner.add(*kernels[k], 0, copies[k]);
  }
  Tickets turns = tickets;
  if (turns[0] == 0 || turns[1] == 0) {
    turns = slots[0] <= slots[1] ? Tickets{1, slots[1] / slots[0]} : Tickets{slots[0] / slots[1], 1};
  }
  std::array<CtasInOrder, 2> left{CtasInOrder(first), CtasInOrder(second)};
  for (uint64_t round = 0; left[0].any() || left[1].any(); ++round) {
    const size_t drawn = round % (turns[0] + turns[1]) < turns[0] ? 0 : 1;
    for (uint32_t sm = 0; sm < sms && (left[0].any() || left[1].any()); ++sm) {
      const size_t k = left[drawn].any() ? drawn : 1 - drawn;
      std::vector<uint32_t> of_parts(joiner.parts(), kNone);
      for (uint32_t copy = 0; copy < copies[k]; ++copy) of_parts[(k == 0 ? 0 : copies[0]) + copy] = left[k].take();
      joiner.add_cta(of_parts);
    }
  }
  return joiner.joined(shared_memory);
}

Expected<traces::Kernel> interleave_warps(const traces::Kernel& first, const traces::Kernel& second) {
  if (const auto joinable = check_joinable(first, second); !joinable) return std::unexpected(joinable.error());
  Joiner joiner(first, second);
  joiner.add(first, 0, 1);
  joiner.add(second, first.warps_per_cta(), 1);
  std::array<CtasInOrder, 2> left{CtasInOrder(first), CtasInOrder(second)};
  while (left[0].any() || left[1].any()) {
    const uint32_t of_first = left[0].take();
    joiner.add_cta({of_first, left[1].take()});
  }
  return joiner.joined(round_up(first.shared_memory_bytes, kSharedMemoryAlignment) + second.shared_memory_bytes);
}

Expected<std::array<int, 2>> find_pair(const Graph& graph, const configs::Scenario& scenario,
                                       const google::protobuf::RepeatedPtrField<std::string>& names, const std::string& field) {
  std::optional<std::array<int, 2>> pair;
  if (!names.empty()) {
    pair = {graph.index(names.Get(0)), graph.index(names.Get(1))};
    if (graph.may_overlap((*pair)[0], (*pair)[1])) return *pair;
    return fail("kernel " + escape::quoted(names.Get(0)) + " cannot run beside " + escape::quoted(names.Get(1)) +
                ": one waits for the other");
  }
  for (int one = 0; one < scenario.kernel_size(); ++one) {
    for (int other = one + 1; other < scenario.kernel_size(); ++other) {
      if (!graph.may_overlap(one, other)) continue;
      if (pair) return fail("more than two kernels may run at the same time; name two as " + field);
      pair = {one, other};
    }
  }
  if (!pair) return fail("no two kernels may run at the same time");
  return *pair;
}

void replace_pair(const Graph& graph, const std::array<int, 2>& pair, traces::Kernel joined, Plan& plan) {
  const auto [stays, goes] = pair;
  const auto wait_for = [](PlannedKernel& kernel, int other) {
    if (std::ranges::find(kernel.after, other) == kernel.after.end()) kernel.after.push_back(other);
  };
  plan.kernels[stays].kernel = std::move(joined);
  plan.kernels[stays].also = {plan.kernels[goes].of};
  for (int k = 0; k < static_cast<int>(plan.kernels.size()); ++k) {
    if (graph.precedes(goes, k)) wait_for(plan.kernels[k], stays);
    if (graph.precedes(k, goes)) wait_for(plan.kernels[stays], k);
  }
  plan.kernels.erase(plan.kernels.begin() + goes);
  for (PlannedKernel& kernel : plan.kernels) {
    std::erase(kernel.after, goes);
    for (int& other : kernel.after) other -= other > goes ? 1 : 0;
  }
}

}  // namespace warpfold::policies
