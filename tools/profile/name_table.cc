#include "tools/profile/name_table.h"

#include <re2/re2.h>
#include <algorithm>

#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "configs/embedded_file.h"
#include "configs/escape/quoted.h"
#include "configs/expression.h"
#include "configs/read_file.h"
#include "configs/text.h"

namespace warpfold {
std::span<const EmbeddedFile> kernel_name_files();  // generated from kernel_names.textproto
}

namespace warpfold::profile {

NameTable::NameTable() = default;
NameTable::NameTable(NameTable&&) noexcept = default;
NameTable::~NameTable() = default;

namespace {

constexpr uint32_t kMostTurns = 4096;  // a value in turn for each launch of a step's longest cycle

using google::protobuf::TextFormat;

// Locates faults of the file's values.
class Faults {
 public:
  Faults(const std::string& file, const TextFormat::ParseInfoTree& tree) : file_(file), tree_(tree) {}

  std::unexpected<Diagnostic> at(int rule, const std::string& field, std::string message) const {
    const auto* rules = KernelNames::descriptor()->FindFieldByName("rule");
    const TextFormat::ParseInfoTree* inside = tree_.GetTreeForNested(rules, rule);
    const auto* which = NameRule::descriptor()->FindFieldByName(field);
    const int index = which != nullptr && which->is_repeated() ? 0 : -1;
    const TextFormat::ParseLocation place =
        inside == nullptr || which == nullptr ? tree_.GetLocation(rules, rule) : inside->GetLocation(which, index);
    return fail_at(file_, place.line + 1, place.column + 1, std::move(message));
  }
  std::unexpected<Diagnostic> of_sequence(int sequence, std::string message) const {
    const TextFormat::ParseLocation place = tree_.GetLocation(KernelNames::descriptor()->FindFieldByName("sequence"), sequence);
    return fail_at(file_, place.line + 1, place.column + 1, std::move(message));
  }

 private:
  const std::string& file_;
  const TextFormat::ParseInfoTree& tree_;
};

Expected<void> compile(const std::string& pattern, const Faults& faults, int rule, const std::string& field,
                       std::unique_ptr<RE2>& compiled) {
  RE2::Options options;
  options.set_log_errors(false);
  compiled = std::make_unique<RE2>(pattern, options);
  if (compiled->ok()) return {};
  return faults.at(rule, field, "pattern " + escape::quoted(pattern) + ": " + escape::remark(compiled->error()));
}

const std::vector<std::string> kOfLaunch{"grid_x", "grid_y", "grid_z", "ctas", "threads", "shared_memory_bytes"};

// Each of the names has a number.
configs::Words words_of(const std::vector<std::string>& names) {
  return {.find = [&names](std::string_view name) -> std::optional<configs::Word> {
            if (std::ranges::find(names, name) == names.end()) return std::nullopt;
            return 1.0;
          },
          .known = {}};
}

Expected<void> check_sizes(const NameRule& rule, const Sequence* sequence, const Faults& faults, int index) {
  if (!rule.when().empty()) {
    if (const auto held = configs::holds(rule.when(), words_of(kOfLaunch)); !held)
      return faults.at(index, "when", "when: " + held.error().message);
  }
  if (rule.sizes() != STATED) {
    for (const auto& [field, set] : {std::pair{"size", rule.size_size() > 0},
                                     {"near", rule.has_near()},
                                     {"sequence", !rule.sequence().empty()},
                                     {"check", rule.check_size() > 0}}) {
      if (set) return faults.at(index, field, "size, near, sequence and check belong to sizes: STATED");
    }
  }
  if (!rule.sequence().empty() && sequence == nullptr)
    return faults.at(index, "sequence", "no sequence of this table is named " + escape::quoted(rule.sequence()));
  if (rule.place() != AT && sequence == nullptr) return faults.at(index, "place", "place belongs to a sequence");
  const RE2 pattern(rule.pattern());
  std::vector<std::string> names = kOfLaunch;
  if (rule.has_near()) names.insert(names.end(), {"near_grid_x", "near_grid_y", "near_grid_z", "near_shared_memory_bytes"});
  for (const auto& [group, number] : pattern.NamedCapturingGroups()) names.push_back(group);
  if (sequence != nullptr) {
    for (const Size& size : sequence->size()) names.push_back(size.name());
  }
  const configs::Words known = words_of(names);
  uint64_t turns = 1;
  for (const Size& size : rule.size()) {
    if (size.name().empty() || size.value_size() == 0) return faults.at(index, "size", "a size needs a name and a value");
    for (const std::string& value : size.value()) {
      if (const auto number = configs::number_of(value, known); !number)
        return faults.at(index, "size", "size " + escape::quoted(size.name()) + ": " + number.error().message);
    }
    if (sequence != nullptr && size.value_size() > 1)
      return faults.at(index, "size", "size " + escape::quoted(size.name()) + ": values in turn belong to the rule's sequence");
    names.push_back(size.name());
    turns = std::lcm(turns, static_cast<uint64_t>(size.value_size()));
    if (turns > kMostTurns)
      return faults.at(index, "size", "the values of the sizes repeat after more than " + std::to_string(kMostTurns) + " launches");
  }
  for (const std::string& condition : rule.check()) {
    if (const auto held = configs::holds(condition, known); !held)
      return faults.at(index, "check", "check: " + held.error().message);
  }
  return {};
}

int layers_of(const Sequence& sequence) {
  int layers = 1;
  for (const Size& size : sequence.size()) layers = std::max(layers, size.value_size());
  return layers;
}

Expected<void> check_sequence(const Sequence& sequence, const Faults& faults, int index) {
  const auto fault = [&](const std::string& message) {
    return faults.of_sequence(index, "sequence " + escape::quoted(sequence.name()) + ": " + message);
  };
  const int layers = layers_of(sequence);
  if (sequence.name().empty()) return fault("a sequence needs a name");
  if (layers > static_cast<int>(kMostTurns)) return fault("more than " + std::to_string(kMostTurns) + " layers");
  std::vector<std::string> names;
  const configs::Words known = words_of(names);
  for (const Size& size : sequence.size()) {
    if (size.name().empty() || size.value_size() == 0) return fault("a size needs a name and a value");
    if (size.value_size() != 1 && size.value_size() != layers)
      return fault("size " + escape::quoted(size.name()) + " has " + std::to_string(size.value_size()) + " values, not 1 or " +
                   std::to_string(layers));
    for (const std::string& value : size.value()) {
      if (const auto number = configs::number_of(value, known); !number)
        return fault("size " + escape::quoted(size.name()) + ": " + number.error().message);
    }
    names.push_back(size.name());
  }
  return {};
}

}  // namespace

Expected<NameTable> NameTable::parse(const std::string& file, const std::string& text) {
  NameTable table;
  TextFormat::ParseInfoTree tree;
  if (auto parsed = configs::parse_located_text(file, text, table.names_, tree); !parsed) return std::unexpected(parsed.error());
  const Faults faults(file, tree);
  for (const Word& word : table.names_.word()) table.words_[word.text()] = word.value();
  for (int s = 0; s < table.names_.sequence_size(); ++s) {
    const Sequence& sequence = table.names_.sequence(s);
    if (auto ok = check_sequence(sequence, faults, s); !ok) return std::unexpected(ok.error());
    table.sequences_[sequence.name()] = &sequence;
  }
  for (int r = 0; r < table.names_.rule_size(); ++r) {
    const NameRule& rule = table.names_.rule(r);
    Patterns& patterns = table.patterns_.emplace_back();
    if (auto ok = compile(rule.pattern(), faults, r, "pattern", patterns.name); !ok) return std::unexpected(ok.error());
    if (!rule.operator_().empty()) {
      if (auto ok = compile(rule.operator_(), faults, r, "operator", patterns.operator_name); !ok)
        return std::unexpected(ok.error());
    }
    if (rule.has_near()) {
      if (auto ok = compile(rule.near().pattern(), faults, r, "near", patterns.near); !ok) return std::unexpected(ok.error());
    }
    if (auto ok = check_sizes(rule, table.sequence_of(rule), faults, r); !ok) return std::unexpected(ok.error());
  }
  return table;
}

Expected<NameTable> NameTable::load(const std::string& file) {
  const auto text = read_file(file);
  if (!text) return std::unexpected(text.error());
  auto table = parse(file, *text);
  if (!table) return table;
  table->further_ = &embedded();
  table->words_.insert(embedded().words_.begin(), embedded().words_.end());
  return table;
}

const Sequence* NameTable::sequence_of(const NameRule& rule) const {
  const auto found = sequences_.find(rule.sequence());
  return found == sequences_.end() ? nullptr : found->second;
}

uint32_t NameTable::equal_turn(const NamedKernel& named, uint32_t turn) {
  if (named.sequence == nullptr) return turn;
  const auto equal = [&named](uint32_t one, uint32_t other) {
    return std::ranges::all_of(named.sequence->size(), [&](const Size& size) {
      return size.value_size() == 1 || size.value(static_cast<int>(one)) == size.value(static_cast<int>(other));
    });
  };
  uint32_t first = 0;
  while (first < turn && !equal(first, turn)) ++first;
  return first;
}

uint32_t NameTable::turns(const NamedKernel& named) {
  if (named.sequence != nullptr) return static_cast<uint32_t>(layers_of(*named.sequence));
  uint32_t turns = 1;
  for (const Size& size : named.rule->size()) turns = std::lcm(turns, static_cast<uint32_t>(size.value_size()));
  return turns;
}

const NameTable& NameTable::embedded() {
  static const NameTable table = [] {
    const EmbeddedFile& file = kernel_name_files().front();
    auto parsed = parse(std::string(file.name), std::string(file.content));
    if (!parsed) throw std::logic_error("the embedded table of names: " + parsed.error().text());
    return std::move(*parsed);
  }();
  return table;
}

bool NameTable::is_near(const NameRule& rule, const std::string& name) const {
  for (size_t r = 0; r < patterns_.size(); ++r) {
    if (&names_.rule(static_cast<int>(r)) != &rule) continue;
    return patterns_[r].near != nullptr && RE2::PartialMatch(name, *patterns_[r].near);
  }
  return further_ != nullptr && further_->is_near(rule, name);
}

NamedKernel NameTable::find(const std::string& name, const std::string& operator_name) const {
  LaunchShape shape;
  shape.name = name;
  shape.op.name = operator_name;
  return find(shape);
}

NamedKernel NameTable::find(const LaunchShape& shape) const {
  const std::string& name = shape.name;
  const std::string& operator_name = shape.op.name;
  for (size_t r = 0; r < patterns_.size(); ++r) {
    const RE2& pattern = *patterns_[r].name;
    std::vector<re2::StringPiece> found(static_cast<size_t>(pattern.NumberOfCapturingGroups()) + 1);
    if (!pattern.Match(name, 0, name.size(), RE2::UNANCHORED, found.data(), static_cast<int>(found.size()))) continue;
    if (patterns_[r].operator_name != nullptr && !RE2::PartialMatch(operator_name, *patterns_[r].operator_name)) continue;
    const NameRule& rule = names_.rule(static_cast<int>(r));
    if (!rule.when().empty()) {
      const auto of_launch = [&shape](std::string_view word) -> std::optional<configs::Word> { return shape.number(word); };
      const auto held = configs::holds(rule.when(), {.find = of_launch, .known = {}});
      if (!held || !*held) continue;
    }
    NamedKernel named{&rule, {}, sequence_of(rule)};
    for (const auto& [group, index] : pattern.NamedCapturingGroups()) {
      const re2::StringPiece& piece = found[static_cast<size_t>(index)];
      if (piece.data() == nullptr) continue;
      std::string text(piece);
      const auto word = words_.find(text);
      named.groups[group] = word == words_.end() ? std::move(text) : word->second;
    }
    return named;
  }
  return further_ == nullptr ? NamedKernel{nullptr, {}} : further_->find(shape);
}

namespace {

// Outside template arguments, the first bracket starts the parameters, "::" ends a namespace, and a blank ends the return type.
std::string without_scope(std::string name) {
  for (const std::string_view scope : {"(anonymous namespace)::", "at::native::"}) {
    for (size_t at = name.find(scope); at != std::string::npos; at = name.find(scope, at)) name.erase(at, scope.size());
  }
  size_t begin = 0;
  size_t end = name.size();
  int depth = 0;
  for (size_t at = 0; at < end; ++at) {
    const char c = name[at];
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (depth != 0) continue;
    if (c == '(') end = at;
    if (c == ' ' || c == ':') begin = at + 1;
  }
  return begin < end ? name.substr(begin, end - begin) : name;
}

}  // namespace

std::string short_name(const std::string& name, size_t most) {
  std::string kept = without_scope(name);
  // CUTLASS's entry points are not informative: "Kernel2<cutlass_80_...>", "device_kernel<flash::FlashAttnBwd<...>>".
  for (const std::string_view entry : {"Kernel<", "Kernel2<", "device_kernel<"}) {
    if (!kept.starts_with(entry) || !kept.ends_with(">")) continue;
    kept = kept.substr(entry.size(), kept.size() - entry.size() - 1);
    // "dpsk::grouped_gemm::cuda::fp8_ptp128c::GemmKernel": keep the last namespace, which is more informative than the class.
    const size_t scope = kept.rfind("::", kept.find('<'));
    const size_t before = scope == std::string::npos || scope == 0 ? scope : kept.rfind("::", scope - 1);
    if (scope != std::string::npos && before != std::string::npos) kept.erase(0, before + 2);
  }
  if (kept.size() <= most) return kept;
  size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(kept[end]) & 0xC0U) == 0x80) --end;  // do not cut inside a UTF-8 character
  return kept.substr(0, end) + "...";
}

}  // namespace warpfold::profile
