#include "configs/escape/gnuplot.h"

#include "configs/escape/visible.h"

namespace warpfold::escape {

namespace {

// Without ]]>, which XML allows in no text and gnuplot 5.4 writes into its pictures as it is.
std::string drawable(std::string_view text) {
  std::string shown = visible(text);
  for (size_t at = shown.find("]]>"); at != std::string::npos; at = shown.find("]]>", at)) shown.insert(at + 2, 1, ' ');
  return shown;
}

}  // namespace

std::string gnuplot(std::string_view text) {
  const std::string shown = drawable(text);
  std::string parts = "'";
  for (const char letter : shown) parts += letter == '\'' ? std::string("'.\"'\".'") : std::string(1, letter);
  parts += "'";
  return shown.find('\'') == std::string::npos ? parts : "(" + parts + ")";
}

std::string gnuplot_cell(std::string_view text) {
  std::string shown = "\"";
  for (const char letter : drawable(text)) shown.append(letter == '\\' ? 2 : 1, letter == '"' ? '\'' : letter);
  return shown + "\"";
}

std::string gnuplot_comment(std::string_view text) {
  std::string shown = visible(text);
  return shown.ends_with('\\') ? shown + " " : shown;
}

}  // namespace warpfold::escape
