#include "traces/accelsim/importer.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "isa/architecture.h"
#include "isa/assembler.h"
#include "traces/accelsim/launch_classes.h"
#include "traces/accelsim/line_source.h"
#include "traces/accelsim/program_roller.h"
#include "traces/accelsim/site_totals.h"
#include "traces/accelsim/static_code.h"
#include "traces/accelsim/tokens.h"
#include "traces/accelsim/trace_header.h"
#include "traces/accelsim/trace_line.h"
#include "traces/connect.h"
#include "traces/validate.h"

namespace warpfold::traces::accelsim {
namespace {

constexpr uint64_t kProgressBytes = uint64_t{1} << 22;
constexpr uint64_t kWarpThreads = 32;

// State of a warp whose instructions are being read.
struct OpenWarp {
  ProgramRoller roller;
  uint64_t steps = 0;
  std::optional<uint64_t> half_copy{};  // raw traces: PC of an LDGSTS whose first of two lines has been read
  std::optional<uint32_t> last_exit{};  // the last instruction read, if it is an EXIT that some lanes take
};

class Importer : private LaunchClasses::Maker {
 public:
  Importer(LineSource& lines, const ImportOptions& options) : lines_(lines), options_(options), classes_(arena_) {}

  Expected<ImportedKernel> run() {
    std::string_view line;
    auto body = read_header(lines_, header_, line);
    if (!body) return std::unexpected(body.error());
    if (auto made = begin(); !made) return std::unexpected(made.error());
    if (*body) {
      do {
        if (auto read = read_line(line); !read) return std::unexpected(read.error());
      } while (lines_.next(line));
    }
    if (lines_.error()) return std::unexpected(*lines_.error());
    if (in_block_) return lines_.fail_here("the file ends inside a thread block: it is truncated. Trace or copy it again");
    while (!warps_.empty()) {
      if (auto closed = close_warp(warps_.begin()); !closed) return std::unexpected(closed.error());
    }
    return finish();
  }

 private:
  // ---- the file

  Expected<void> begin() {
    std::string name = options_.architecture;
    if (name.empty()) {
      auto known = architecture_of(header_, lines_.file());
      if (!known) return std::unexpected(known.error());
      name = *known;
    }
    if (auto checked = check_header(header_, lines_.file()); !checked) return checked;
    const auto found = isa::Architecture::find(name);
    if (!found) return fail("--architecture: " + found.error().message);
    architecture_ = *found;
    code_.emplace(*architecture_);
    const auto warps = static_cast<uint32_t>((header_.threads() + kWarpThreads - 1) / kWarpThreads);
    sites_.emplace(options_.caches ? options_.caches(warps, static_cast<uint32_t>(header_.registers), shared_bytes())
                                   : access::CacheSpec{.l1_bytes = 0, .l2_bytes = 0});
    form_ = {.version = header_.version, .leading = 0, .line_number = header_.line_numbers};
    return {};
  }

  uint32_t shared_bytes() const { return static_cast<uint32_t>(std::min<uint64_t>(header_.shared_memory, 1U << 20U)); }

  Expected<void> read_line(std::string_view line) {
    if (options_.progress && lines_.bytes_read() - told_ >= kProgressBytes) {
      told_ = lines_.bytes_read();
      options_.progress(told_);
    }
    if (line.empty()) return {};
    if (line.front() == '#') return read_mark(line);
    if (line.front() >= 'a' && line.front() <= 'z') {
      if (line.starts_with("thread block = ")) return read_block(line.substr(15));
      if (line.starts_with("warp = ")) return read_warp(line.substr(7));
      if (line.starts_with("insts = ")) return read_count(line.substr(8));
      if (line.starts_with("cluster ")) return {};
    }
    return read_instruction(line);
  }

  Expected<void> read_mark(std::string_view line) {
    if (line.starts_with("#BEGIN_TB")) {
      if (in_block_) return lines_.fail_here("a thread block begins before the last one has ended: the file is damaged");
      in_block_ = true;
      warp_.reset();
      return {};
    }
    if (!line.starts_with("#END_TB")) return {};
    if (!in_block_) return lines_.fail_here("the end of a thread block that has not begun: the file is damaged");
    in_block_ = false;
    if (auto ended = end_warp(); !ended) return ended;
    while (!warps_.empty()) {
      if (auto closed = close_warp(warps_.begin()); !closed) return closed;
    }
    return {};
  }

  Expected<void> read_block(std::string_view text) {
    std::array<uint64_t, 3> at{};
    for (size_t d = 0; d < 3; ++d) {
      const size_t comma = d < 2 ? text.find(',') : text.size();
      if (comma == std::string_view::npos || !Tokens::whole(text.substr(0, comma), at[d])) {
        return lines_.fail_here("expected thread block = X,Y,Z");
      }
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return enter(at[0], at[1], at[2]);
  }

  Expected<void> enter(uint64_t x, uint64_t y, uint64_t z) {
    if (x >= header_.grid[0] || y >= header_.grid[1] || z >= header_.grid[2]) {
      return lines_.fail_here("thread block " + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) +
                              " lies outside the header's grid");
    }
    cta_ = (z * header_.grid[1] + y) * header_.grid[0] + x;
    return {};
  }

  Expected<void> read_warp(std::string_view text) {
    if (auto ended = end_warp(); !ended) return ended;
    uint64_t warp = 0;
    if (!Tokens::whole(text, warp)) return lines_.fail_here("expected warp = N");
    counted_ = 0;
    return enter_warp(warp);
  }

  Expected<void> enter_warp(uint64_t warp) {
    if (warp * kWarpThreads >= header_.threads()) {
      return lines_.fail_here("warp " + std::to_string(warp) + " of a block of " + std::to_string(header_.threads()) + " threads");
    }
    warp_ = static_cast<uint32_t>(warp);
    return {};
  }

  Expected<void> read_count(std::string_view text) {
    uint64_t count = 0;
    if (!Tokens::whole(text, count)) return lines_.fail_here("expected insts = N");
    announced_ = count;
    return {};
  }

  // Checks that a warp of a .traceg has as many instructions as its insts line announces.
  Expected<void> end_warp() {
    if (warp_ && announced_ && *announced_ != counted_) {
      return lines_.fail_here("warp " + std::to_string(*warp_) + " has " + std::to_string(counted_) +
                              " instructions; its insts line says " + std::to_string(*announced_) + ". The file is damaged");
    }
    announced_.reset();
    return {};
  }

  // ---- instructions

  Expected<void> read_instruction(std::string_view line) {
    form_.leading = leading_numbers(line);
    if (auto problem = parse_line(line, form_, parsed_)) return lines_.fail_here(*std::move(problem));
    if (form_.leading >= 4) {
      if (auto entered = enter(parsed_.leading[0], parsed_.leading[1], parsed_.leading[2]); !entered) return entered;
      if (auto entered = enter_warp(parsed_.leading[3]); !entered) return entered;
    }
    if (!warp_) return lines_.fail_here("an instruction in front of the first warp = N");
    if (!in_block_ && parsed_.opcode.starts_with("LDGSTS")) {
      const auto first = is_first_half();
      if (!first) return std::unexpected(first.error());
      if (*first) return {};
    }
    ++counted_;
    if (parsed_.opcode.starts_with("REPLAY")) return {};  // brackets the spin loop of an mbarrier; no instruction
    auto number = code_->find(parsed_);
    if (!number) return lines_.fail_here(number.error().message);
    const StaticInstruction& instruction = code_->at(*number);
    OpenWarp& warp = open_warp();
    const isa::Behaviour behaviour = architecture_->info(instruction.instruction).behaviour;
    // An EXIT is held back: the last EXIT of a warp ends its role, earlier ones end only lanes.
    if (warp.last_exit) roll(warp, *warp.last_exit);
    warp.last_exit.reset();
    if (behaviour == isa::Behaviour::kExit && !instruction.off) {
      warp.last_exit = *number;
    } else {
      roll(warp, *number);
    }
    if (behaviour == isa::Behaviour::kBarrierSync || behaviour == isa::Behaviour::kBarrierArrive) {
      if (!instruction.off) barrier_warps_[static_cast<size_t>(instruction.instruction.effect.barrier)] |= 1U << *warp_;
    }
    if (instruction.access != access::Access::kNone && !instruction.off) {
      sites_->add(instruction, *number, cta_, *warp_, warp.steps, parsed_, header_);
    }
    ++warp.steps;
    ++instructions_;
    return {};
  }

  // Returns how many numbers precede the PC in a line. Headers of raw traces omit this from version 5 on. There are
  // four numbers for CTA and warp, six with the SM (a tracer built for cores), and eleven or thirteen with the cluster
  // (version 6). The first line decides: the first of these counts with which it parses as an instruction.
  size_t leading_numbers(std::string_view line) {
    if (in_block_) return header_.version >= 3 ? 0 : header_.format_known ? header_.leading : 4;
    if (header_.format_known && header_.leading > 0) return header_.leading;
    if (raw_leading_) return *raw_leading_;
    constexpr std::array<size_t, 4> kAll{4, 6, 11, 13};
    TraceLine ignored;
    const auto fits = [&](size_t leading) {
      LineForm form = form_;
      form.leading = leading;
      return !parse_line(line, form, ignored);
    };
    const auto found = std::ranges::find_if(kAll, fits);
    raw_leading_ = found != kAll.end() ? *found : kAll.front();
    return *raw_leading_;
  }

  // True for the first of two lines of an LDGSTS. The raw trace has one line for the address in shared memory and one
  // for the address in global memory; a .traceg has only the second.
  Expected<bool> is_first_half() {
    std::optional<uint64_t>& half = open_warp().half_copy;
    if (!half) {
      half = parsed_.pc;
      return true;
    }
    if (*half != parsed_.pc)
      return lines_.fail_here("LDGSTS of a raw trace come in pairs of lines; the one before has no second line");
    half.reset();
    return false;
  }

  OpenWarp& open_warp() {
    const std::pair at{cta_, *warp_};
    if (open_ == nullptr || open_at_ != at) {
      auto found = warps_.find(at);
      if (found == warps_.end()) found = warps_.emplace(at, OpenWarp{.roller = ProgramRoller(arena_)}).first;
      open_ = &found->second;
      open_at_ = at;
    }
    return *open_;
  }

  void roll(OpenWarp& warp, uint32_t number) {
    const StaticInstruction& instruction = code_->at(number);
    warp.roller.add(number, instruction.place, instruction.pc);
  }

  using Warps = std::map<std::pair<uint64_t, uint32_t>, OpenWarp>;

  Expected<void> close_warp(Warps::iterator at) {
    const auto [cta, number] = at->first;
    if (!at->second.last_exit) {
      return lines_.fail_here("warp " + std::to_string(number) + " of thread block number " + std::to_string(cta) +
                              " does not end with EXIT: the trace is incomplete. Trace it again, or remove the thread block");
    }
    if (at->second.half_copy) return lines_.fail_here("the raw trace ends between the two lines of an LDGSTS: it is truncated");
    exit_ = *at->second.last_exit;
    classes_.add(cta, number, at->second.roller.finish());
    open_ = nullptr;
    warps_.erase(at);
    return {};
  }

  // ---- the kernel

  Expected<ImportedKernel> finish() {
    if (classes_.ctas() == 0) return lines_.fail_here("no thread block: the trace holds no instructions");
    uint64_t cta = 0;
    uint32_t warp = 0;
    if (classes_.uneven(cta, warp)) {
      return lines_.fail_here("warp " + std::to_string(warp) + " of thread block number " + std::to_string(cta) +
                              " has no instructions, and the same warp of others has: the trace is incomplete");
    }
    ImportedKernel imported;
    Kernel& kernel = imported.kernel;
    kernel.name = header_.kernel_name.empty() ? "kernel" + std::to_string(header_.kernel_id) : header_.kernel_name;
    kernel.architecture = architecture_->name();
    kernel.source =
        "trace of Accel-Sim's tracer, version " + std::to_string(header_.version) + ", kernel " + std::to_string(header_.kernel_id);
    kernel.registers_per_thread = static_cast<uint32_t>(header_.registers);
    kernel.shared_memory_bytes = shared_bytes();
    effects_ = sites_->effects(*code_, header_, kernel);
    if (auto built = classes_.build(*this, kernel); !built) return lines_.fail_here(built.error().message);
    count_barriers(kernel);
    for (Role& role : kernel.roles) assign_control_codes(*architecture_, role.body, Waits::kInInstructions);
    if (auto valid = validate(kernel, lines_.file()); !valid) return fail_at(lines_.file(), 1, 1, valid.error().message);
    imported.stream = header_.stream;
    imported.id = header_.kernel_id;
    imported.bytes = lines_.bytes_read();
    imported.instructions = instructions_;
    imported.ctas_of_grid = header_.grid[0] * header_.grid[1] * header_.grid[2];
    imported.kept_share = sites_->kept_share();
    imported.counter_waits = code_->counter_waits();
    return imported;
  }

  isa::Instruction instruction(uint32_t number) const override {
    isa::Instruction made = code_->at(number).instruction;
    made.effect = effects_[number];
    // Lanes end here, but the warp continues.
    if (architecture_->info(made).behaviour == isa::Behaviour::kExit) made.guard = {.present = true, .negated = true};
    return made;
  }

  isa::Instruction last_exit() const override {
    isa::Instruction made = code_->at(exit_).instruction;
    made.guard = {};
    return made;
  }

  // Sets the thread counts of barriers. A trace does not state them: the count is that of the warps that reach the
  // barrier. A barrier of all warps needs no count.
  void count_barriers(Kernel& kernel) const {
    uint32_t all = 0;
    for (uint32_t w = 0; w < kernel.warps_per_cta(); ++w) all |= 1U << w;
    for (Role& role : kernel.roles) count_barriers(role.body, all);
  }

  void count_barriers(std::vector<Node>& body, uint32_t all) const {
    for (Node& node : body) {
      if (auto* loop = std::get_if<Loop>(&node)) {
        count_barriers(loop->body, all);
        continue;
      }
      for (isa::Instruction& instruction : std::get<Block>(node).code) {
        const isa::Behaviour behaviour = architecture_->info(instruction).behaviour;
        const bool arrives = behaviour == isa::Behaviour::kBarrierArrive;
        if (!arrives && behaviour != isa::Behaviour::kBarrierSync) continue;
        const uint32_t warps = barrier_warps_[static_cast<size_t>(instruction.effect.barrier)];
        const bool some = std::popcount(warps) < std::popcount(all);
        if (arrives || some) instruction.effect.count = static_cast<uint16_t>(std::max(std::popcount(warps), 1) * 32);
      }
    }
  }

  LineSource& lines_;
  const ImportOptions& options_;
  TraceHeader header_;
  LineForm form_;
  TraceLine parsed_;
  const isa::Architecture* architecture_ = nullptr;
  std::optional<StaticCode> code_;
  std::optional<SiteTotals> sites_;
  ProgramArena arena_;
  LaunchClasses classes_;
  Warps warps_;               // .traceg: warps of one CTA; raw trace: all warps that have not ended
  OpenWarp* open_ = nullptr;  // warp at open_at_
  std::pair<uint64_t, uint32_t> open_at_;
  std::array<uint32_t, 16> barrier_warps_{};
  std::vector<isa::Effect> effects_;
  bool in_block_ = false;
  std::optional<size_t> raw_leading_;  // for a raw trace whose header does not state the count
  uint64_t cta_ = 0;
  std::optional<uint32_t> warp_;
  uint64_t counted_ = 0;
  std::optional<uint64_t> announced_;
  uint32_t exit_ = 0;
  uint64_t instructions_ = 0;
  uint64_t told_ = 0;
};

}  // namespace

Expected<ImportedKernel> import_kernel(const std::string& file, std::unique_ptr<ByteSource> source, const ImportOptions& options) {
  LineSource lines(file, std::move(source));
  return Importer(lines, options).run();
}

Expected<ImportedKernel> import_kernel(const std::string& path, const ImportOptions& options) {
  auto source = open_source(path);
  if (!source) return std::unexpected(source.error());
  return import_kernel(path, *std::move(source), options);
}

}  // namespace warpfold::traces::accelsim
