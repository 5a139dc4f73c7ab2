#include "configs/escape/html.h"

#include "configs/escape/terminal.h"

namespace warpfold::escape {

namespace {

// Replaces every letter of `special` by its entry in `replacements`.
template <size_t kCount>
std::string replaced(std::string_view text, std::string_view special, const std::string_view (&replacements)[kCount]) {
  std::string result;
  result.reserve(text.size());
  for (const char letter : text) {
    const size_t at = special.find(letter);
    if (at == std::string_view::npos) {
      result += letter;
    } else {
      result += replacements[at];
    }
  }
  return result;
}

}  // namespace

std::string html(std::string_view text) { return replaced(terminal(text), "&<>\"'", {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}); }

std::string script_json(std::string_view json) { return replaced(json, "&<>", {"\\u0026", "\\u003c", "\\u003e"}); }

}  // namespace warpfold::escape
