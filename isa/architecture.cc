#include "isa/architecture.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "configs/embedded_file.h"
#include "configs/enum_values.h"
#include "configs/escape/quoted.h"
#include "configs/near_miss.h"
#include "isa/opcode_table.pb.h"
#include "isa/table_base.h"

namespace warpfold::isa {

namespace {

// The enums follow the schema by number: a new name in the schema needs one in the header.
static_assert(table::PipeName_ARRAYSIZE == kPipes);
static_assert(table::Behaviour_ARRAYSIZE == enum_size<Behaviour>());

// Consumer of a predicate: @P on any instruction.
constexpr std::string_view kGuard = "guard";

using Numbers = google::protobuf::RepeatedField<uint32_t>;

ByWidth by_width(const Numbers& values) {
  ByWidth result{};
  if (values.empty()) return result;
  for (int i = 0; i < 3; ++i) result[i] = static_cast<uint16_t>(values[std::min(i, values.size() - 1)]);
  return result;
}

std::vector<uint8_t> small_numbers(const Numbers& values) {
  std::vector<uint8_t> result;
  for (const uint32_t value : values) result.push_back(static_cast<uint8_t>(value));
  return result;
}

// Expands a latency row to one entry per consumer. "*" fills the latency classes that the row does not name.
Expected<std::vector<uint8_t>> spread_row(const google::protobuf::RepeatedPtrField<table::LatencyTo>& row,
                                          const std::vector<std::string>& consumers, const std::string& producer) {
  std::vector<uint8_t> cycles(consumers.size(), 0);
  for (const table::LatencyTo& entry : row) {
    if (entry.consumer() != "*") continue;
    for (size_t i = 0; i < consumers.size(); ++i) cycles[i] = consumers[i] == kGuard ? 0 : static_cast<uint8_t>(entry.cycles());
  }
  for (const table::LatencyTo& entry : row) {
    if (entry.consumer() == "*") continue;
    const auto at = std::ranges::find(consumers, entry.consumer());
    if (at == consumers.end()) {
      return fail("latency class " + escape::quoted(producer) + " names an unknown consumer " + escape::quoted(entry.consumer()) +
                  suggestion(entry.consumer(), consumers));
    }
    cycles[at - consumers.begin()] = static_cast<uint8_t>(entry.cycles());
  }
  return cycles;
}

OpcodeInfo opcode_info(const table::Opcode& row, const std::string& name, uint8_t latency_class) {
  OpcodeInfo info;
  info.name = name;
  info.pipe = static_cast<Pipe>(row.pipe());
  info.issue_interval = static_cast<uint8_t>(row.issue_interval_cycles());
  info.behaviour = static_cast<Behaviour>(row.behaviour());
  info.latency_class = latency_class;
  info.destination_registers = small_numbers(row.destination_registers());
  info.source_registers = small_numbers(row.source_registers());
  if (row.has_destinations()) info.destinations = static_cast<uint8_t>(row.destinations());
  info.result_cycles = by_width(row.result_cycles());
  info.source_release_cycles = by_width(row.source_release_cycles());
  info.result_cycles_uniform = row.result_cycles_uniform().empty() ? info.result_cycles : by_width(row.result_cycles_uniform());
  info.source_release_cycles_uniform =
      row.source_release_cycles_uniform().empty() ? info.source_release_cycles : by_width(row.source_release_cycles_uniform());
  info.compiler_port = row.compiler_port();
  if (row.has_compiler_interval_cycles()) info.compiler_interval = static_cast<uint8_t>(row.compiler_interval_cycles());
  info.also_blocks_fma_lite = row.also_blocks_fma_lite();
  if (row.has_minimum_stall_cycles()) info.minimum_stall = static_cast<uint8_t>(row.minimum_stall_cycles());
  info.predicate_destinations = static_cast<uint8_t>(row.predicate_destinations());
  info.source_slots = small_numbers(row.source_slots());
  info.before_target = static_cast<uint8_t>(row.before_target_cycles());
  info.low_word_earlier = static_cast<uint8_t>(row.low_word_earlier_cycles());
  return info;
}

// "HMMA.16816.F32" -> {"HMMA", "16816", "F32"}
std::vector<std::string_view> dotted_parts(std::string_view name) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t dot = name.find('.');
    parts.push_back(name.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    name.remove_prefix(dot + 1);
  }
}

// Removes `modifiers` from `from`. Returns false if a modifier is missing or out of order.
bool take_modifiers(const std::vector<std::string>& modifiers, std::vector<std::string_view>& from) {
  auto at = from.begin();
  for (const std::string& modifier : modifiers) {
    at = std::find(at, from.end(), modifier);
    if (at == from.end()) return false;
    at = from.erase(at);
  }
  return true;
}

// True for tables of an architecture. Other tables hold rows on which architectures build.
bool of_architecture(const EmbeddedFile& file) { return file.name.starts_with("sm_"); }

// Checks values that the machine divides by or indexes with, in both built-in and user tables.
Expected<void> check_row(const table::Opcode& row) {
  const std::string name = row.name().empty() ? "" : row.name(0);
  if (name.empty()) return fail("an opcode row has no name");
  if (row.issue_interval_cycles() < 1 || row.issue_interval_cycles() > 64) {
    return fail("opcode " + name + ": issue_interval_cycles is " + std::to_string(row.issue_interval_cycles()) +
                ", expected 1 to 64");
  }
  if (row.minimum_stall_cycles() > 15) {
    return fail("opcode " + name + ": minimum_stall_cycles is " + std::to_string(row.minimum_stall_cycles()) +
                ", expected at most 15 (the stall count has four bits)");
  }
  return {};
}

}  // namespace

int access_width_index(std::string_view mnemonic) {
  size_t at = 0;
  int width = 0;
  while ((at = mnemonic.find('.', at)) != std::string_view::npos) {
    const std::string_view modifier = mnemonic.substr(at + 1, mnemonic.find('.', at + 1) - at - 1);
    if (modifier == "64" || modifier == "2") width = 1;                        // LDSM.16.M88.2: two matrices, two registers
    if (modifier == "128" || modifier == "256" || modifier == "4") width = 2;  // rows of 256-bit accesses state their registers
    ++at;
  }
  return width;
}

bool adds_in_l2(std::string_view mnemonic) {
  const std::string_view base = mnemonic.substr(0, mnemonic.find('.'));
  return base == "RED" || base == "REDG" || base == "ATOM" || base == "ATOMG";
}

// Suffixes: ".F32", ".F16x2", ".BF16_V2", ".F64".
bool adds_floats(std::string_view mnemonic) {
  return adds_in_l2(mnemonic) && (mnemonic.find(".F") != std::string_view::npos || mnemonic.find(".BF") != std::string_view::npos);
}

Expected<Architecture> Architecture::parse(const std::string& file, std::string_view text) {
  const auto fail_here = [&](Diagnostic diagnostic) {
    diagnostic.file = file;
    return std::unexpected(std::move(diagnostic));
  };
  const auto merged = merged_table(file, text);
  if (!merged) return std::unexpected(merged.error());
  const table::OpcodeTable& source = *merged;

  Architecture result;
  result.name_ = source.architecture();
  for (const table::LatencyClass& row : source.latency_class()) result.latency_class_names_.push_back(row.name());
  std::vector<std::string> consumers = result.latency_class_names_;
  consumers.emplace_back(kGuard);
  for (const table::LatencyClass& row : source.latency_class()) {
    auto registers = spread_row(row.register_result(), result.latency_class_names_, row.name());
    if (!registers) return fail_here(registers.error());
    auto predicates = spread_row(row.predicate_result(), consumers, row.name());
    if (!predicates) return fail_here(predicates.error());
    const uint8_t guard = predicates->back();
    predicates->pop_back();
    result.register_latency_.push_back(*std::move(registers));
    result.predicate_latency_.push_back(*std::move(predicates));
    result.guard_latency_.push_back(guard ? guard : static_cast<uint8_t>(source.predicate_guard_cycles()));
  }
  if (source.has_register_before_target_cycles()) {
    result.register_before_target_ = static_cast<int>(source.register_before_target_cycles());
  }
  if (source.has_predicate_before_target_cycles()) {
    result.predicate_before_target_ = static_cast<int>(source.predicate_before_target_cycles());
  }
  std::map<std::string, int> seen;
  for (const table::Opcode& row : source.opcode()) {
    if (auto checked = check_row(row); !checked) return fail_here(checked.error());
    const auto at = std::ranges::find(result.latency_class_names_, row.latency_class());
    if (at == result.latency_class_names_.end()) {
      return fail_here(fail("opcode " + row.name(0) + ": unknown latency class " + escape::quoted(row.latency_class()) +
                            suggestion(row.latency_class(), result.latency_class_names_))
                           .error());
    }
    const auto latency_class = static_cast<uint8_t>(at - result.latency_class_names_.begin());
    for (const std::string& name : row.name()) {
      if (seen[name]++ != 0) return fail_here(fail("opcode " + name + " has two rows").error());
      result.opcodes_.push_back(opcode_info(row, name, latency_class));
      result.add_to_family(static_cast<uint16_t>(result.opcodes_.size() - 1));
    }
  }
  for (const table::KeyedOpcode& keyed : source.keyed()) {
    const auto family = result.families_.find(keyed.name());
    if (family == result.families_.end()) continue;  // opcode absent from this architecture
    family->second.keyed = true;
    std::vector<std::string>& indifferent = family->second.indifferent;
    indifferent.insert(indifferent.end(), keyed.indifferent().begin(), keyed.indifferent().end());
  }
  for (const OpcodeInfo& producer : result.opcodes_) {
    // A later write with no latency must land one cycle after this one.
    int longest = std::max(result.guard_latency(producer), result.write_latency(producer) + 1);
    for (const OpcodeInfo& consumer : result.opcodes_) {
      longest = std::max({longest, result.register_latency(producer, consumer), result.predicate_latency(producer, consumer)});
    }
    result.longest_latency_ = std::max(result.longest_latency_, longest);
  }
  return result;
}

Expected<const Architecture*> Architecture::find(std::string_view name) {
  // Parsed once, on first use. The tables are part of the program, so a fault in a table is a broken invariant.
  static const std::map<std::string, Architecture, std::less<>> architectures = [] {
    std::map<std::string, Architecture, std::less<>> all;
    for (const EmbeddedFile& file : opcode_table_files()) {
      if (!of_architecture(file)) continue;
      auto parsed = parse(std::string(file.name), file.content);
      if (!parsed) throw std::logic_error(parsed.error().text());
      const std::string key = parsed->name();
      all.emplace(key, *std::move(parsed));
    }
    return all;
  }();
  const auto at = architectures.find(name);
  if (at != architectures.end()) return &at->second;
  return fail("unknown architecture " + escape::quoted(name) + suggestion(name, known()));
}

std::vector<std::string> Architecture::known() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : opcode_table_files()) {
    if (of_architecture(file)) names.emplace_back(file.name.substr(0, file.name.rfind('.')));
  }
  const auto number = [](const std::string& name) { return std::stoi(name.substr(name.find('_') + 1)); };
  std::ranges::sort(names, {}, number);
  return names;
}

void Architecture::add_to_family(uint16_t row) {
  const std::vector<std::string_view> parts = dotted_parts(opcodes_[row].name);
  std::vector<Family::Member>& members = families_[std::string(parts.front())].members;
  const auto shorter =
      std::ranges::find_if(members, [&parts](const Family::Member& member) { return member.modifiers.size() + 1 < parts.size(); });
  members.insert(shorter, {{parts.begin() + 1, parts.end()}, row});
}

Expected<uint16_t> Architecture::resolve(std::string_view mnemonic) const {
  const std::vector<std::string_view> parts = dotted_parts(mnemonic);
  const auto family = families_.find(parts.front());
  if (family == families_.end()) return unknown(mnemonic);
  const auto costs_nothing = [&family](std::string_view modifier) {
    return std::ranges::find(family->second.indifferent, modifier) != family->second.indifferent.end();
  };
  for (const Family::Member& member : family->second.members) {
    std::vector<std::string_view> further(parts.begin() + 1, parts.end());
    if (!take_modifiers(member.modifiers, further)) continue;
    if (!family->second.keyed || std::ranges::all_of(further, costs_nothing)) return member.row;
  }
  return unknown(mnemonic);
}

std::unexpected<Diagnostic> Architecture::unknown(std::string_view mnemonic) const {
  const std::string_view base = mnemonic.substr(0, mnemonic.find('.'));
  if (const auto family = families_.find(base); family != families_.end()) {
    std::string known;
    for (const Family::Member& member : family->second.members) {
      known += (known.empty() ? "" : ", ") + opcodes_[member.row].name;
    }
    const char* separator = "; modifiers that do not change the cost: ";
    for (const std::string& modifier : family->second.indifferent) {
      known += separator + modifier;
      separator = ", ";
    }
    return fail("unknown modifiers of " + escape::quoted(mnemonic) + "; " + name_ + " has " + known);
  }
  std::vector<std::string> names;
  for (const OpcodeInfo& info : opcodes_) names.push_back(info.name);
  const std::string near = nearest_name(std::string(base), names);
  return fail("unknown opcode " + escape::quoted(mnemonic) + " of " + name_ +
              (near.empty() ? std::string() : "; did you mean " + escape::quoted(near) + "?"));
}

int Architecture::register_latency(const OpcodeInfo& producer, const OpcodeInfo& consumer) const {
  return register_latency_[producer.latency_class][consumer.latency_class];
}

int Architecture::predicate_latency(const OpcodeInfo& producer, const OpcodeInfo& consumer) const {
  return predicate_latency_[producer.latency_class][consumer.latency_class];
}

int Architecture::guard_latency(const OpcodeInfo& producer) const { return guard_latency_[producer.latency_class]; }

int Architecture::write_latency(const OpcodeInfo& producer) const {
  return register_latency_[producer.latency_class][producer.latency_class];
}

}  // namespace warpfold::isa
