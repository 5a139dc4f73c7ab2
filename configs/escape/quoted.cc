#include "configs/escape/quoted.h"

#include <utility>

#include "configs/escape/visible.h"

namespace warpfold::escape {

std::string quoted(std::string_view text) { return '"' + visible(text, kMostQuoted) + '"'; }

std::string unquoted(std::string_view text) { return visible(text, kMostQuoted); }

std::string path(std::string_view file) {
  std::string shown = visible(file, kMostOfPath);
  if (shown == visible(file)) return shown;
  constexpr std::string_view kBefore = "...";
  const std::string_view name = file.substr(file.rfind('/') + 1);
  if (name.size() == file.size()) return shown;
  // Whole folders from the end, as many as fit.
  std::string end = visible(name, kMostOfPath - kBefore.size() - 1);
  for (std::string_view folders = file.substr(0, file.size() - name.size() - 1); !folders.empty();) {
    const size_t slash = folders.rfind('/');
    std::string more = visible(folders.substr(slash + 1)) + "/" + end;
    if (slash == std::string_view::npos || kBefore.size() + 1 + more.size() > kMostOfPath) break;
    end = std::move(more);
    folders = folders.substr(0, slash);
  }
  return std::string(kBefore) + "/" + end;
}

std::string quoted_path(std::string_view file) { return '"' + path(file) + '"'; }

std::string remark(std::string_view text) {
  constexpr size_t kMost = 160;
  return visible(text, kMost);
}

}  // namespace warpfold::escape
