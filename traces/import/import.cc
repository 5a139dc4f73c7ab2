#include "traces/import/import.h"

#include <algorithm>
#include <set>

#include "configs/escape/quoted.h"
#include "configs/launch_sizes.h"
#include "configs/near_miss.h"
#include "isa/architecture.h"
#include "traces/import/cluster_signals.h"
#include "traces/import/explore.h"
#include "traces/import/flow.h"
#include "traces/import/listed_sections.h"
#include "traces/import/listing.h"
#include "traces/import/other_forms.h"
#include "traces/import/rings.h"
#include "traces/import/roll.h"
#include "traces/import/slow_paths.h"
#include "traces/import/streams.h"
#include "traces/import/text_form.h"
#include "traces/validate.h"

namespace warpfold::sass {
namespace {

constexpr uint64_t kOffsetInBank = 0xffff;  // mask of the offset in the address of a constant

class Importer {
 public:
  Importer(const std::string& file, const configs::KernelLaunch& launch, const configs::Places& places,
           const access::CachesFor& caches, const Limits& limits, const ImportOptions& options)
      : file_(file), launch_(launch), places_(places), caches_(caches), limits_(limits), options_(options) {}

  Expected<Imported> import(std::string_view text) {
    if (auto checked = check_text_form(file_, text); !checked) return std::unexpected(checked.error());
    std::string plain;
    if (is_json_listing(text)) {
      auto json = read_json_listing(file_, text);
      if (!json) return std::unexpected(json.error());
      if (json->lines_of_jq)
        result_.report.assumed.emplace_back("several instructions are in one line of the file: lines are those of jq . FILE");
      text = plain = std::move(json->text);
    } else if (is_csv_listing(text)) {
      auto csv = read_csv_listing(file_, text);
      if (!csv) return std::unexpected(csv.error());
      text = plain = *std::move(csv);
    }
    for (const auto step : {&Importer::find_architecture, &Importer::find_function, &Importer::follow}) {
      if (auto done = (this->*step)(text); !done) return std::unexpected(done.error());
    }
    result_.kernel.assumed = result_.report.assumed;
    if (auto valid = traces::validate(result_.kernel, file_); !valid) return fail_at(file_, 1, 1, valid.error().message);
    return std::move(result_);
  }

 private:
  Expected<void> find_architecture(std::string_view text) {
    const std::vector<std::string> named = architectures_of(text);
    std::string name = launch_.architecture();
    while (!name.empty() && std::isalpha(static_cast<unsigned char>(name.back())) != 0) name.pop_back();  // sm_90a is sm_90
    if (named.size() > 1 && std::ranges::find(named, name) == named.end()) {
      std::string all;
      for (const std::string& each : named) all += (all.empty() ? "" : ", ") + each;
      return places_.fail({launch_.has_architecture() ? "architecture" : "",
                           "the listing has code for " + all + "; state one, as architecture: " + escape::quoted(named.front())});
    }
    several_ = named.size() > 1;
    if (name.empty() && !named.empty()) name = named.front();
    if (name.empty()) {
      if (auto listing = read_listing(file_, text, **isa::Architecture::find("sm_80")); !listing)
        return std::unexpected(listing.error());
      return places_.fail({"", "the listing does not name its architecture; state it, as architecture: \"sm_80\""});
    }
    auto compiled_for = isa::Architecture::find(name);
    if (!compiled_for) return places_.fail({launch_.has_architecture() ? "architecture" : "", compiled_for.error().message});
    compiled_for_ = std::move(name);
    architecture_ = *compiled_for;
    if (!launch_.has_runs_on() || launch_.runs_on() == configs::kAnyArchitecture) return {};
    auto runs_on = isa::Architecture::find(launch_.runs_on());
    if (!runs_on) return places_.fail({"runs_on", runs_on.error().message});
    architecture_ = *runs_on;
    return {};
  }

  Expected<void> find_function(std::string_view text) {
    if (auto checked = check_assumed_pipes(); !checked) return checked;
    auto listing = read_listing(file_, text, *architecture_, several_ ? compiled_for_ : std::string(), options_.assume);
    if (!listing) return std::unexpected(listing.error());
    listing_ = *std::move(listing);
    std::vector<std::string> names;
    for (Function& function : listing_.functions) {
      names.push_back(function.name);
      if (function.name == launch_.function()) function_ = &function;
    }
    if (launch_.has_function() && function_ == nullptr) {
      return places_.fail({"function", "the listing has no function " + escape::quoted(launch_.function()) +
                                           suggestion(launch_.function(), names)});
    }
    if (function_ != nullptr) return {};
    if (listing_.functions.size() > 1) {
      std::string all;
      for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
      return places_.fail(
          {"", "the listing has several functions; state one, as function: " + escape::quoted(names.front()) + ". It has: " + all});
    }
    function_ = &listing_.functions.front();
    return {};
  }

  // Names the waits for groups. The dependence counter of LDGDEPBAR counts cp.async groups, that of UTMACMDFLUSH groups
  // of bulk copies (SB0 if the listing does not state it). A DEPBAR of this counter waits for groups.
  void name_group_waits(isa::Behaviour commits, std::string_view name) {
    uint8_t counter = isa::kNoCounter;
    for (const ListedInstruction& listed : function_->code) {
      if (architecture_->info(listed.instruction).behaviour != commits) continue;
      counter = listed.has_control && listed.instruction.control.write_counter != isa::kNoCounter
                    ? listed.instruction.control.write_counter
                    : uint8_t{0};
    }
    const auto waits = architecture_->resolve(name);
    if (counter == isa::kNoCounter || !waits) return;
    for (ListedInstruction& listed : function_->code) {
      isa::Instruction& instruction = listed.instruction;
      // The machine counts these groups itself and would never release the counter.
      if (commits == isa::Behaviour::kBulkWait && architecture_->info(instruction).behaviour == commits)
        instruction.control.write_counter = isa::kNoCounter;
      if (architecture_->info(instruction).behaviour != isa::Behaviour::kDependenceWait || instruction.operands.empty()) continue;
      if (instruction.operands.front().text != "SB" + std::to_string(counter)) continue;
      instruction.mnemonic = name;
      instruction.opcode = *waits;
    }
  }

  Expected<void> follow(std::string_view /*text*/) {
    auto facts = launch_facts(launch_, compiled_for_, places_, kTensorMapAlignment, function_->parameters);
    if (!facts) return std::unexpected(facts.error());
    for (const auto& [at, value] : function_->constants) facts->constants[at] = {value};
    name_group_waits(isa::Behaviour::kCopyAsyncCommit, "DEPBAR.LE.LDGSTS");
    name_group_waits(isa::Behaviour::kBulkWait, "DEPBAR.LE.BULK");
    auto ops = decode(listing_, *function_, *architecture_);
    if (!ops) return std::unexpected(ops.error());
    align_tensor_maps(*ops, *facts);
    mark_slow_paths(*ops);
    if (auto inlined = inline_calls(file_, *ops); !inlined) return inlined;
    const auto flow = make_flow(file_, *ops);
    if (!flow) return std::unexpected(flow.error());
    add_local_memory(*ops, *facts);
    if (auto checked = check_answers(*facts); !checked) return checked;
    if (auto checked = check_registers(); !checked) return checked;
    if (auto checked = check_shared_memory(); !checked) return checked;
    if (auto checked = check_tensor_memory(); !checked) return checked;
    auto found = explore(file_, *ops, *flow, *facts, limits_, options_.questions, options_.progress);
    if (!found) return std::unexpected(found.error());
    if (auto stated = state_assumed_opcodes(); !stated) return stated;
    for (const auto& [line, text] : found->assumed) result_.report.assumed.push_back("line " + std::to_string(line) + ", " + text);
    if (auto settled = settle_array_sizes(*ops, *found, *facts); !settled) return settled;
    result_.report.control_codes = std::ranges::all_of(function_->code, &ListedInstruction::has_control);
    result_.report.followed_ctas = found->followed_ctas;
    result_.report.executed = found->executed;
    describe(*facts);
    state_sample(*found, *facts);
    if (auto settled = settle_cluster_signals(file_, *ops, *facts, *found); !settled) return settled;
    keep_used_paths(*found);
    if (auto rings = find_rings(file_, *ops, *found, result_.kernel); !rings) return rings;
    add_streams(*found, *ops, *facts, caches_for(*facts), result_);
    roll(*found, *ops, *facts, *architecture_, result_.report.control_codes, result_.kernel);
    return {};
  }

  void state_sample(const Exploration& found, const LaunchFacts& facts) {
    if (found.strata.empty()) return;
    ImportReport& report = result_.report;
    double instructions = 0;
    for (const CtaBox& box : found.boxes) {
      uint64_t issued = 0;
      for (const int path : box.paths) issued += issued_on(found.paths[static_cast<size_t>(path)]);
      instructions += static_cast<double>(issued) * static_cast<double>(box.ctas());
      report.sampled_ctas += box.sampled ? box.ctas() : 0;
    }
    report.drawn_ctas = found.strata.size();
    report.instructions_error = half_width(found.strata) / std::max(instructions, 1.0);
    result_.kernel.source += "; " + std::to_string(report.drawn_ctas) + " CTAs drawn at random represent " +
                             std::to_string(report.sampled_ctas) + " of " + std::to_string(facts.ctas());
  }

  // Adds local memory as an array: the frames of the threads of all resident CTAs. The frame size comes from the
  // function's change of the stack pointer (IADD3 R1, R1, -0x40, RZ).
  void add_local_memory(const std::vector<Op>& ops, LaunchFacts& facts) const {
    const auto local = [](const Op& op) { return op.base == "LDL" || op.base == "STL"; };
    if (std::ranges::none_of(ops, local)) return;
    uint32_t frame = 0;
    for (const Op& op : ops) {
      const auto of_stack = [](const Source& operand) { return operand.kind == Source::Kind::kRegister && operand.index == 1; };
      if (!std::ranges::any_of(op.destinations, of_stack) || !std::ranges::any_of(op.sources, of_stack)) continue;
      for (const Source& source : op.sources) {
        if (source.kind == Source::Kind::kImmediate) frame = std::max(frame, 0 - source.immediate);
      }
    }
    constexpr uint32_t kLargestFrame = 512 << 10;  // CUDA C++ Programming Guide, "Technical Specifications": per thread
    constexpr uint32_t kUnknownFrame = 256;        // assumed: the function does not state it
    if (frame == 0 || frame > kLargestFrame) frame = kUnknownFrame;
    uint64_t ctas = facts.ctas();
    if (const auto caches = caches_for(facts)) ctas = std::min<uint64_t>(ctas, uint64_t{caches->sms} * caches->ctas_per_sm);
    facts.local_words = (frame + 3) / 4;
    facts.local_array = static_cast<int16_t>(facts.arrays.size());
    constexpr uint64_t kAddress = uint64_t{1} << 56;  // beyond all arrays
    facts.arrays.push_back({"local_memory", kAddress, uint64_t{facts.local_words} * 4 * kLanes * facts.warps() * ctas});
  }

  Expected<void> check_answers(const LaunchFacts& facts) const {
    for (int i = 0; i < launch_.answer_size(); ++i) {
      const int line = static_cast<int>(launch_.answer(i).line());
      if (!facts.answers.contains(line) ||
          std::ranges::find(function_->code, line, &ListedInstruction::line) != function_->code.end()) {
        continue;
      }
      return places_.fail({"answer[" + std::to_string(i) + "].line",
                           "line " + std::to_string(line) + " of " + file_ + " has no instruction of " + function_->name});
    }
    return {};
  }

  // Returns the number of constants that the code reads and no parameter has, plus the tensor maps whose offset no
  // instruction adds.
  static size_t contradictions(const std::vector<Op>& ops, const LaunchFacts& facts) {
    const auto first = static_cast<uint32_t>(facts.parameters & kOffsetInBank);
    std::set<uint32_t> missing;
    std::set<uint32_t> immediates;
    for (const Op& op : ops) {
      for (const Source& source : op.sources) {
        if (source.kind == Source::Kind::kImmediate) immediates.insert(source.immediate);
        const bool fixed = source.index == isa::kZeroRegister && source.uniform == isa::kZeroRegister && source.bank == 0;
        if (source.kind != Source::Kind::kConstant || !fixed || source.immediate < first) continue;
        if (!facts.constants.contains(source.immediate / 4 * 4)) missing.insert(source.immediate);
      }
    }
    const auto unused = std::ranges::count_if(facts.tensor_maps, [&](const auto& map) {
      const uint64_t offset = map.first - facts.parameters;
      return offset != 0 && !immediates.contains(static_cast<uint32_t>(offset));
    });
    return missing.size() + static_cast<size_t>(unused);
  }

  // Selects the alignment of tensor maps that agrees with the code, because the listing does not name its CUDA version.
  void align_tensor_maps(const std::vector<Op>& ops, LaunchFacts& facts) {
    if (facts.tensor_maps.empty()) return;
    auto later = launch_facts(launch_, compiled_for_, places_, kTensorMapAlignment13, function_->parameters);
    if (!later || contradictions(ops, *later) >= contradictions(ops, facts)) return;
    facts = *std::move(later);
    for (const auto& [at, value] : function_->constants) facts.constants[at] = {value};
    result_.report.assumed.push_back(
        "tensor maps begin at multiples of 128 bytes, as CUDA 13 aligns them: the code reads parameters there");
  }

  Expected<void> check_assumed_pipes() const {
    for (const AssumedOpcode& assumed : options_.assume) {
      if (!stand_ins(*architecture_, assumed).empty()) continue;
      std::string pipes;
      for (const isa::PipeRow& row : isa::kMathPipes) {
        if (!stand_ins(*architecture_, {"", std::string(row.name), 0}).empty())
          pipes += (pipes.empty() ? "" : ", ") + std::string(row.name);
      }
      return fail("--assume " + escape::quoted(assumed.opcode) + ": no opcode of " + architecture_->name() + " computes on pipe " +
                  escape::quoted(assumed.pipe) + "; it has " + pipes);
    }
    return {};
  }

  Expected<void> state_assumed_opcodes() {
    for (const AssumedOpcode& assumed : options_.assume) {
      const ListedInstruction* first = nullptr;
      size_t instructions = 0;
      for (const ListedInstruction& listed : function_->code) {
        if (listed.assumed_opcode.empty() || !assumed.covers(listed.assumed_opcode)) continue;
        if (instructions++ == 0) first = &listed;
      }
      if (first == nullptr) {
        return fail("--assume " + escape::quoted(assumed.opcode) + ": function " + escape::unquoted(function_->name) +
                    " has no such opcode that " + architecture_->name() + " lacks, or no opcode of " + architecture_->name() +
                    " on pipe " + escape::quoted(assumed.pipe) + " has its operands");
      }
      const isa::OpcodeInfo& info = architecture_->info(first->instruction);
      result_.report.assumed.push_back(assumed.opcode + " of line " + std::to_string(first->line) +
                                       (instructions > 1 ? " and " + std::to_string(instructions - 1) + " more" : "") + ": as " +
                                       info.name + ", on the " + assumed.pipe + " pipe with " +
                                       std::to_string(latency_of(*architecture_, info)) +
                                       " cycles (stated: " + std::to_string(assumed.latency) + "); its results are unknown");
    }
    return {};
  }

  // Accesses outside their array are an error of the description, unless sizes follow from the accesses.
  Expected<void> settle_array_sizes(const std::vector<Op>& ops, const Exploration& found, LaunchFacts& facts) {
    for (size_t i = 0; i < facts.arrays.size(); ++i) {
      if (static_cast<int>(i) == facts.local_array) continue;
      ArrayFacts& array = facts.arrays[i];
      const Reach& reach = found.reach[i];
      const bool beyond = reach.end > 0 && static_cast<uint64_t>(reach.end) > array.bytes;
      if (!beyond && reach.first >= 0) continue;
      if (options_.trust_addresses) {
        const uint64_t bytes = std::max(static_cast<uint64_t>(std::max<int64_t>(reach.end, 0)), array.bytes) -
                               static_cast<uint64_t>(std::min<int64_t>(reach.first, 0));
        result_.report.assumed.push_back("array " + array.name + " has " + std::to_string(bytes) +
                                         " bytes, as accessed; stated: " + std::to_string(array.bytes));
        array.bytes = bytes;
        continue;
      }
      const Op& op = ops[static_cast<size_t>(beyond ? reach.end_op : reach.first_op)];
      const std::string accesses = escape::unquoted(op.instruction->mnemonic) + ": accesses array " + escape::unquoted(array.name);
      if (beyond) {
        return fail_at(file_, op.line, 1,
                       accesses + " up to offset " + std::to_string(reach.end) + ", but the launch description states " +
                           std::to_string(array.bytes) + " bytes; state bytes: " + std::to_string(reach.end) +
                           ", or pass --trust-addresses to take sizes from the accesses");
      }
      return fail_at(file_, op.line, 1,
                     accesses + " at offset " + std::to_string(reach.first) +
                         ", before its beginning; state array_offset: of the parameter, or pass --trust-addresses "
                         "to take sizes from the accesses");
    }
    return {};
  }

  // setmaxnreg moves registers of the launch, which may be more than the highest register that is named.
  Expected<void> check_registers() const {
    if (!launch_.has_registers() && function_->registers > traces::kMostRegisters)
      return fail_at(
          file_, function_->registers_line, 1,
          escape::unquoted(function_->name) + ": a thread has at most 255 registers, not " + std::to_string(function_->registers));
    if (launch_.has_registers() || function_->registers != 0) return {};
    for (const ListedInstruction& listed : function_->code) {
      if (architecture_->info(listed.instruction).behaviour != isa::Behaviour::kSetMaxRegisters) continue;
      return fail_at(file_, listed.line, 1,
                     listed.instruction.mnemonic +
                         ": warps give and take registers of the launch, of which the listing does not say the number; state what "
                         "ptxas -v prints, as registers: 168");
    }
    return {};
  }

  // cuobjdump -sass does not print static shared memory, and no listing contains dynamic shared memory.
  Expected<void> check_shared_memory() const {
    if (launch_.has_shared_memory_bytes() || function_->shared_bytes != 0) return {};
    for (const ListedInstruction& listed : function_->code) {
      const isa::Behaviour behaviour = architecture_->info(listed.instruction).behaviour;
      if (behaviour != isa::Behaviour::kLoadShared && behaviour != isa::Behaviour::kStoreShared &&
          behaviour != isa::Behaviour::kLoadMatrix && behaviour != isa::Behaviour::kCopyAsync)
        continue;
      return fail_at(
          file_, listed.line, 1,
          listed.instruction.mnemonic +
              ": the listing does not say how much shared memory a CTA has; print it too, by cuobjdump -sass -res-usage, or "
              "state static and dynamic bytes together, as shared_memory_bytes: 4096");
    }
    return {};
  }

  // tcgen05.alloc takes the number of columns from a register.
  Expected<void> check_tensor_memory() const {
    if (launch_.has_tensor_memory_columns()) return {};
    for (const ListedInstruction& listed : function_->code) {
      if (architecture_->info(listed.instruction).behaviour != isa::Behaviour::kTcgen05Mma) continue;
      return fail_at(
          file_, listed.line, 1,
          listed.instruction.mnemonic +
              ": the listing does not say how many columns of tensor memory a CTA allocates; state what tcgen05.alloc takes, as "
              "tensor_memory_columns: 512");
    }
    return {};
  }

  void describe(const LaunchFacts& facts) {
    traces::Kernel& kernel = result_.kernel;
    kernel.name = kernel_name();
    kernel.architecture = architecture_->name();
    kernel.source = "SASS listing " + file_ + ", function " + function_->name;
    kernel.cluster_ctas = facts.cluster[0] * facts.cluster[1] * facts.cluster[2];
    kernel.flops = launch_.flops();
    kernel.tensor_memory_columns = launch_.tensor_memory_columns();
    kernel.shared_memory_bytes = launch_.has_shared_memory_bytes() ? launch_.shared_memory_bytes() : function_->shared_bytes;
    kernel.registers_per_thread = launch_.has_registers() ? launch_.registers() : function_->registers;
    if (kernel.registers_per_thread == 0) kernel.registers_per_thread = highest_register() + 1;
    // Registers are allocated in units of eight per thread (256 per warp).
    if (!launch_.has_registers()) kernel.registers_per_thread = std::min<uint32_t>((kernel.registers_per_thread + 7) / 8 * 8, 255);
    result_.report.function = function_->name;
  }

  std::optional<access::CacheSpec> caches_for(const LaunchFacts& facts) const {
    if (!caches_) return std::nullopt;
    return caches_(facts.warps(), result_.kernel.registers_per_thread, result_.kernel.shared_memory_bytes);
  }

  uint32_t highest_register() const {
    uint32_t highest = 0;
    for (const ListedInstruction& listed : function_->code) {
      for (const isa::Operand& operand : listed.instruction.operands) {
        if (operand.kind == isa::OperandKind::kRegister && operand.index != isa::kZeroRegister) {
          highest = std::max<uint32_t>(highest, operand.index + std::max<uint32_t>(operand.width, 1) - 1);
        }
      }
    }
    return highest;
  }

  // Returns a kernel name that a trace allows, from any name of a C++ function.
  std::string kernel_name() const {
    std::string name;
    for (const char c : function_->name) {
      const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
      if (plain || (!name.empty() && name.back() != '_')) name += plain ? c : '_';
      if (name.size() == 60) break;
    }
    return name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "kernel_" + name : name;
  }

  const std::string& file_;
  const configs::KernelLaunch& launch_;
  const configs::Places& places_;
  const access::CachesFor& caches_;
  const Limits& limits_;
  const ImportOptions& options_;
  std::string compiled_for_;
  bool several_ = false;                             // the listing also has code for other architectures
  const isa::Architecture* architecture_ = nullptr;  // architecture on which the kernel runs
  Listing listing_;
  Function* function_ = nullptr;
  Imported result_;
};

}  // namespace

Expected<Imported> import_listing(const std::string& file, std::string_view text, const configs::KernelLaunch& launch,
                                  const configs::Places& places, const access::CachesFor& caches, const Limits& limits,
                                  const ImportOptions& options) {
  const auto sized = configs::with_sizes(launch, places);
  if (!sized) return std::unexpected(sized.error());
  return Importer(file, *sized, places, caches, limits, options).import(text);
}

}  // namespace warpfold::sass
