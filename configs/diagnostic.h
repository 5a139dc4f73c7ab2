#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace warpfold {

// A mistake of the user, as a value that travels to main. The program prints it as one line and ends with exit code 2.
// The line is  file:line:column: message  without the parts that are not known. Line and column count from 1; 0 is not
// known.
struct Diagnostic {
  std::string file;
  int line = 0;
  int column = 0;
  std::string message;  // the mistake, the expected value, a near-miss suggestion
  // The field of a scenario that is at fault: "kernel[0].philox.rounds". configs/places.h turns it into line and
  // column. Empty: no field, or the place is known.
  std::string path = {};

  std::string text() const;
  // Returns the diagnostic with its path inside the group `outer`.
  Diagnostic inside(const std::string& outer) const;
};

template <typename T>
using Expected = std::expected<T, Diagnostic>;

inline std::unexpected<Diagnostic> fail(std::string message) { return std::unexpected(Diagnostic{{}, 0, 0, std::move(message)}); }
inline std::unexpected<Diagnostic> fail_in(std::string path, std::string message) {
  return std::unexpected(Diagnostic{{}, 0, 0, std::move(message), std::move(path)});
}
inline std::unexpected<Diagnostic> fail_at(std::string file, int line, int column, std::string message) {
  return std::unexpected(Diagnostic{std::move(file), line, column, std::move(message)});
}

}  // namespace warpfold
