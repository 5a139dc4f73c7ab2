#include "configs/escape/markdown.h"

#include <algorithm>
#include <cctype>

#include "configs/escape/visible.h"

namespace warpfold::escape {

namespace {

bool is_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; }

}  // namespace

std::string markdown(std::string_view text) {
  constexpr std::string_view kMarkup = "\\`*[]#!|~$";
  const std::string shown = visible(text);
  std::string escaped;
  for (size_t i = 0; i < shown.size(); ++i) {
    const char letter = shown[i];
    const bool inside = i > 0 && i + 1 < shown.size() && is_word(shown[i - 1]) && is_word(shown[i + 1]);
    if (letter == '&') {
      escaped += "&amp;";
    } else if (letter == '<') {
      escaped += "&lt;";
    } else if (letter == '>') {
      escaped += "&gt;";
    } else if (letter == '@') {
      escaped += "&#64;";
    } else if (letter == ':' && shown.compare(i + 1, 2, "//") == 0) {
      escaped += "&#58;";
    } else if (letter == '.' && i >= 3 && shown.compare(i - 3, 3, "www") == 0) {
      escaped += "&#46;";
    } else if (kMarkup.find(letter) != std::string_view::npos || (letter == '_' && !inside)) {
      escaped.append(1, '\\').append(1, letter);
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

std::string markdown_code(std::string_view text) {
  std::string shown = visible(text);
  std::ranges::replace(shown, '`', '\'');
  return "`" + shown + "`";
}

}  // namespace warpfold::escape
