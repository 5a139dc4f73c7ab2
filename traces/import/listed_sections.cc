#include "traces/import/listed_sections.h"

#include <algorithm>

#include "traces/import/listed_resources.h"

namespace warpfold::sass {

void Sections::read(std::string_view line) {
  if (line.starts_with("Fatbin ptx code:")) is_ptx_ = true;
  if (line.starts_with("Fatbin elf code:")) is_ptx_ = false;
  if (is_ptx_) return;
  // .note.nv.tkinfo of CUDA 13: /*0030*/ .string "-arch sm_80 -m 64 "
  if (line.starts_with("/*")) {
    const auto number = line.find(".string") == std::string_view::npos ? std::nullopt : number_after(line, "\"-arch sm_");
    if (number) architecture_ = "sm_" + std::to_string(*number);
    return;
  }
  for (const std::string_view key : {"code for sm_", "arch = sm_", ".target\tsm_", ".target sm_", "EF_CUDA_SM"}) {
    if (const auto number = number_after(line, key)) architecture_ = "sm_" + std::to_string(*number);
  }
}

std::vector<std::string> architectures_of(std::string_view text) {
  std::vector<std::string> found;
  Sections sections;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    sections.read(line);
    const bool known = sections.architecture().empty() || std::ranges::find(found, sections.architecture()) != found.end();
    if (!known) found.push_back(sections.architecture());
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return found;
}

}  // namespace warpfold::sass
