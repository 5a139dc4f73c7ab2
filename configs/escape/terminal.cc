#include "configs/escape/terminal.h"

#include <algorithm>

#include "configs/escape/visible.h"

namespace warpfold::escape {

std::string terminal(std::string_view text) {
  constexpr std::string_view kKept = "\n\t";
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(kKept), text.size());
    shown += visible(text.substr(0, end));
    if (end < text.size()) shown += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shown;
}

}  // namespace warpfold::escape
