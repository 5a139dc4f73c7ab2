#pragma once

#include <string>
#include <string_view>

namespace warpfold::escape {

// A cell of CSV (RFC 4180) that holds a text of the input: visible (visible.h), in quotes where it has a comma or a quote.
// A spreadsheet runs what begins with =, +, - or @ as a formula (tabs and carriage returns, which some skip before one, are
// visible): such a text begins with an apostrophe, which spreadsheets take for "this is text". Numbers and a lone sign stay as
// they are:
//
//   =HYPERLINK("http://x")  "'=HYPERLINK(""http://x"")"
//   -1.5, +3e8, -           unchanged
std::string csv(std::string_view text);

}  // namespace warpfold::escape
