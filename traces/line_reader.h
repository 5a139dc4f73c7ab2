#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "configs/diagnostic.h"

namespace warpfold::traces {

// Reads one line of the text form from left to right, blanks between the parts skipped. The first failure sticks with the
// column where the offending part begins; after it every read returns an empty value, so callers look once, at the end.
class LineReader {
 public:
  LineReader(const std::string& file, int number, std::string_view line) : file_(file), number_(number), line_(line) {}

  const std::optional<Diagnostic>& error() const { return error_; }
  void fail(std::string message);       // at the part read last
  void fail_here(std::string message);  // at what follows it

  bool ended();                 // nothing is left, or the reading failed
  bool take(char punctuation);  // takes the character if it is the next one
  void expect(char punctuation);
  void expect_end();
  // A name as is_name() has it; `what` says in messages what was expected.
  std::string name(const std::string& what);
  uint64_t number(const std::string& what, uint64_t largest = std::numeric_limits<uint64_t>::max());
  // Any text in double quotes, with the escapes of quote().
  std::string quoted(const std::string& what);
  bool at_quote();
  bool at_digit();

 private:
  void skip_blanks();
  std::string_view take_while(bool (*belongs)(char));

  const std::string& file_;
  int number_;
  std::string_view line_;
  size_t at_ = 0;
  size_t part_ = 0;  // where the part read last begins
  std::optional<Diagnostic> error_;
};

// `text` in double quotes: \" \\ \n \t, and \xHH for other control characters. Reads back to the same bytes.
std::string quote(std::string_view text);

}  // namespace warpfold::traces
