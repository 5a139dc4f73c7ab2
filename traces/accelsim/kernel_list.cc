#include "traces/accelsim/kernel_list.h"

#include <algorithm>

#include "traces/accelsim/line_source.h"

namespace warpfold::traces::accelsim {

Expected<std::vector<ListEntry>> read_kernel_list(const std::string& file, std::unique_ptr<ByteSource> source) {
  LineSource lines(file, std::move(source));
  std::vector<ListEntry> entries;
  std::string_view line;
  while (lines.next(line)) {
    if (line.starts_with("Memcpy")) entries.push_back({true, std::string(line), lines.number()});
    if (line.starts_with("kernel")) entries.push_back({false, std::string(line), lines.number()});
    if (line.find('\0') != std::string_view::npos) return lines.fail_here("a list of kernels is text; this file is not");
  }
  if (lines.error()) return std::unexpected(*lines.error());
  if (std::ranges::all_of(entries, &ListEntry::copy)) {
    return lines.fail_here("no kernels: expected lines such as kernel-1.traceg");
  }
  return entries;
}

}  // namespace warpfold::traces::accelsim
