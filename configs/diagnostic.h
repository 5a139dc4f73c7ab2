#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace warpfold {

// What a user did wrong, as a value that travels to main, is printed as one line and ends the program with exit code 2.
// Rendered as  file:line:column: message  (the parts that are known; line and column count from 1, 0 is unknown).
struct Diagnostic {
  std::string file;
  int line = 0;
  int column = 0;
  std::string message;  // what is wrong, what was expected, a near-miss suggestion
  // The field of a scenario that is at fault, as in "kernel[0].philox.rounds", which configs/places.h turns into line and column;
  // empty: none, or the place is known.
  std::string path = {};

  std::string text() const;
  // The same of a field within the group `outer`.
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
