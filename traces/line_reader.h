#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "configs/diagnostic.h"

namespace warpfold::traces {

// Reads one line of the text form from left to right and skips blanks between its parts. The first failure persists,
// with the column where the offending part begins. After it every read returns an empty value, so callers check
// once, at the end.
class LineReader {
 public:
  LineReader(const std::string& file, int number, std::string_view line) : file_(file), number_(number), line_(line) {}

  const std::optional<Diagnostic>& error() const { return error_; }
  void fail(std::string message);       // Fails at the part read last.
  void fail_here(std::string message);  // Fails at the text after that part.

  bool ended();                 // the line has ended, or a read has failed
  bool take(char punctuation);  // consumes the character if it is next
  void expect(char punctuation);
  void expect_end();
  // Reads a name as defined by is_name(). `what` names the expected part in messages.
  std::string name(const std::string& what);
  uint64_t number(const std::string& what, uint64_t largest = std::numeric_limits<uint64_t>::max());
  // Reads a text in double quotes, with the escapes of quote().
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
  size_t part_ = 0;  // start of the part read last
  std::optional<Diagnostic> error_;
};

// Returns `text` in double quotes, with the escapes \" \\ \n \t, and \xHH for other control characters. Reads back to
// the same bytes.
std::string quote(std::string_view text);

}  // namespace warpfold::traces
