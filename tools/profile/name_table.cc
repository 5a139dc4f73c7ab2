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

Expected<void> check_sizes(const NameRule& rule, const Faults& faults, int index) {
  if (rule.sizes() != STATED && (rule.size_size() > 0 || rule.has_near()))
    return faults.at(index, rule.size_size() > 0 ? "size" : "near", "size and near belong to sizes: STATED");
  const RE2 pattern(rule.pattern());
  std::vector<std::string> names{"grid_x", "grid_y", "grid_z", "ctas", "threads", "shared_memory_bytes"};
  if (rule.has_near()) names.insert(names.end(), {"near_grid_x", "near_grid_y", "near_grid_z", "near_shared_memory_bytes"});
  for (const auto& [group, number] : pattern.NamedCapturingGroups()) names.push_back(group);
  const configs::Words known{.find = [&names](std::string_view name) -> std::optional<configs::Word> {
                               if (std::ranges::find(names, name) == names.end()) return std::nullopt;
                               return 1.0;
                             },
                             .known = {}};
  uint64_t turns = 1;
  for (const Size& size : rule.size()) {
    if (size.name().empty() || size.value_size() == 0) return faults.at(index, "size", "a size needs a name and a value");
    for (const std::string& value : size.value()) {
      if (const auto number = configs::number_of(value, known); !number)
        return faults.at(index, "size", "size " + escape::quoted(size.name()) + ": " + number.error().message);
    }
    names.push_back(size.name());
    turns = std::lcm(turns, static_cast<uint64_t>(size.value_size()));
    if (turns > kMostTurns)
      return faults.at(index, "size", "the values of the sizes repeat after more than " + std::to_string(kMostTurns) + " launches");
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
    if (auto ok = check_sizes(rule, faults, r); !ok) return std::unexpected(ok.error());
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

uint32_t NameTable::turns(const NameRule& rule) {
  uint32_t turns = 1;
  for (const Size& size : rule.size()) turns = std::lcm(turns, static_cast<uint32_t>(size.value_size()));
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
  for (size_t r = 0; r < patterns_.size(); ++r) {
    const RE2& pattern = *patterns_[r].name;
    std::vector<re2::StringPiece> found(static_cast<size_t>(pattern.NumberOfCapturingGroups()) + 1);
    if (!pattern.Match(name, 0, name.size(), RE2::UNANCHORED, found.data(), static_cast<int>(found.size()))) continue;
    if (patterns_[r].operator_name != nullptr && !RE2::PartialMatch(operator_name, *patterns_[r].operator_name)) continue;
    NamedKernel named{&names_.rule(static_cast<int>(r)), {}};
    for (const auto& [group, index] : pattern.NamedCapturingGroups()) {
      const re2::StringPiece& piece = found[static_cast<size_t>(index)];
      if (piece.data() == nullptr) continue;
      std::string text(piece);
      const auto word = words_.find(text);
      named.groups[group] = word == words_.end() ? std::move(text) : word->second;
    }
    return named;
  }
  return further_ == nullptr ? NamedKernel{nullptr, {}} : further_->find(name, operator_name);
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
