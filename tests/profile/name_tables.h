#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "tools/profile/name_table.h"

namespace warpfold::profile {

// Returns the table of this text, which must be right.
inline NameTable table(const std::string& text) {
  auto parsed = NameTable::parse("my.textproto", text);
  if (!parsed) throw std::runtime_error(parsed.error().text());
  return std::move(*parsed);
}
// Returns the mistake in a table's text, with file, line and column; empty if there is none.
inline std::string mistake(const std::string& text) {
  const auto parsed = NameTable::parse("my.textproto", text);
  return parsed ? "" : parsed.error().text();
}

}  // namespace warpfold::profile
