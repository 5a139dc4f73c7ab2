#include "traces/import/listed_resources.h"

#include <algorithm>
#include <charconv>

namespace warpfold::sass {
namespace {

// From sm_90 on, the compiler counts the shared memory that the system reserves per CTA (CUDA programming guide,
// "Compute Capability 9.0": 1 KB) as static shared memory. Compiled code of CUDA 13.0 states 5120 bytes for 4096
// declared ones, and 1024 if all shared memory is dynamic.
constexpr uint32_t kSystemBytes = 1024;
constexpr uint32_t kCountsSystemBytes = 90;
constexpr uint32_t kMostBanks = 16;

constexpr std::string_view kSharedSection = ".nv.shared.";
constexpr std::string_view kInfoSection = ".nv.info.";
constexpr std::string_view kConstantSection = ".nv.constant";

}  // namespace

std::optional<uint32_t> number_after(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + key.size());
  uint32_t value = 0;
  if (std::from_chars(rest.data(), rest.data() + rest.size(), value).ec != std::errc{}) return std::nullopt;
  return value;
}

void Resources::begin_section(std::string_view name) {
  shared_section_ = name.starts_with(kSharedSection);
  info_section_ = name.starts_with(kInfoSection);
  if (info_section_) {
    function_ = name.substr(kInfoSection.size(), name.find(',') - kInfoSection.size());
    parameters_ = {};
  }
  const auto bank = name.starts_with(kConstantSection) ? number_after(name, kConstantSection) : std::nullopt;
  constant_section_ = bank && *bank > 0 && *bank < kMostBanks;
  if (constant_section_) {
    constants_ = ConstantReader(*bank);
    const size_t dot = name.find('.', kConstantSection.size());
    const size_t comma = name.find(',');
    function_ = dot < comma ? name.substr(dot + 1, comma - dot - 1) : std::string_view();
  }
  if (shared_section_) function_ = name.substr(kSharedSection.size(), name.find(',') - kSharedSection.size());
}

bool Resources::read(std::string_view line, int number) {
  if (ListedParameter parameter; info_section_) {
    if (parameters_.read(line, parameter)) add_parameter(functions_[function_].parameters, parameter);
    return line.starts_with("/*");
  }
  if (constant_section_) {
    constants_.read(line, function_.empty() ? of_all_ : functions_[function_].constants);
    return line.starts_with("/*");
  }
  if (line.starts_with("Function ") && line.ends_with(':')) {
    function_ = line.substr(9, line.size() - 10);
    return true;
  }
  if (line.starts_with("REG:")) {
    OfFunction& function = functions_[function_];
    function.registers = number_after(line, "REG:").value_or(0);
    function.registers_line = number;
    function.shared_bytes = number_after(line, "SHARED:").value_or(0);
    return true;
  }
  if (!shared_section_ || !line.starts_with(".zero")) return false;
  std::string_view bytes = line.substr(5);
  bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t"), bytes.size()));
  functions_[function_].shared_bytes += number_after(bytes, "").value_or(0);
  return true;
}

void Resources::add_to(std::vector<Function>& functions, std::string_view architecture) const {
  const bool counts_system_bytes = number_after(architecture, "sm_").value_or(0) >= kCountsSystemBytes;
  for (Function& function : functions) {
    function.constants = of_all_;
    const auto found = functions_.find(function.name);
    if (found == functions_.end()) continue;
    function.constants.insert(found->second.constants.begin(), found->second.constants.end());
    if (function.registers == 0) {
      function.registers = found->second.registers;
      function.registers_line = found->second.registers_line;
    }
    function.shared_bytes = found->second.shared_bytes;
    function.parameters = found->second.parameters;
    if (counts_system_bytes) function.shared_bytes -= std::min(function.shared_bytes, kSystemBytes);
  }
}

}  // namespace warpfold::sass
