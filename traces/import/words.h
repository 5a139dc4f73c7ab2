#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace warpfold::sass {

// Returns `text` without blanks at its ends.
inline std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

// Reads `text` as a hexadecimal number, with or without 0x. Returns nullopt for other text.
inline std::optional<uint64_t> hexadecimal(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace warpfold::sass
