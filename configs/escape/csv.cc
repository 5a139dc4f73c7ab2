#include "configs/escape/csv.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "configs/escape/visible.h"

namespace warpfold::escape {

namespace {

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool is_formula(std::string_view text) {
  constexpr std::string_view kFirst = "=+-@";
  return text.size() > 1 && kFirst.find(text.front()) != std::string_view::npos && !is_number(text);
}

}  // namespace

std::string csv(std::string_view text) {
  std::string shown = visible(text);
  // Blanks before a formula do not keep a spreadsheet from running it.
  if (is_formula(std::string_view(shown).substr(std::min(shown.find_first_not_of(' '), shown.size())))) shown.insert(0, 1, '\'');
  if (shown.find_first_of(",\"") == std::string::npos) return shown;
  std::string quoted(1, '"');
  for (const char letter : shown) quoted.append(letter == '"' ? 2 : 1, letter);
  return quoted.append(1, '"');
}

}  // namespace warpfold::escape
