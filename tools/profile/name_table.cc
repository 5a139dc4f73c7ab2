#include "tools/profile/name_table.h"

#include <re2/re2.h>

#include <span>
#include <stdexcept>
#include <utility>

#include "configs/embedded_file.h"
#include "configs/escape/quoted.h"
#include "configs/load.h"

namespace warpfold {
std::span<const EmbeddedFile> kernel_name_files();  // generated from kernel_names.textproto
}

namespace warpfold::profile {

NameTable::NameTable() = default;
NameTable::NameTable(NameTable&&) noexcept = default;
NameTable::~NameTable() = default;

Expected<NameTable> NameTable::parse(const std::string& file, const std::string& text) {
  NameTable table;
  if (auto parsed = configs::parse_text(file, text, table.names_); !parsed) return std::unexpected(parsed.error());
  for (const Word& word : table.names_.word()) table.words_[word.text()] = word.value();
  for (const NameRule& rule : table.names_.rule()) {
    RE2::Options options;
    options.set_log_errors(false);
    auto& pattern = table.patterns_.emplace_back(std::make_unique<RE2>(rule.pattern(), options));
    if (!pattern->ok())
      return fail_at(file, 0, 0, "pattern " + escape::quoted(rule.pattern()) + ": " + escape::remark(pattern->error()));
  }
  return table;
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

NamedKernel NameTable::find(const std::string& name) const {
  for (size_t r = 0; r < patterns_.size(); ++r) {
    const RE2& pattern = *patterns_[r];
    std::vector<re2::StringPiece> found(static_cast<size_t>(pattern.NumberOfCapturingGroups()) + 1);
    if (!pattern.Match(name, 0, name.size(), RE2::UNANCHORED, found.data(), static_cast<int>(found.size()))) continue;
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
  return {nullptr, {}};
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
