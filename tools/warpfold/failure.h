#pragma once

#include <expected>
#include <string>
#include <utility>

#include "configs/diagnostic.h"

namespace warpfold::cli {

// Exit codes of the program.
inline constexpr int kSuccess = 0;
inline constexpr int kInternalError = 1;  // a defect of the program
inline constexpr int kUnformatted = 1;    // trace format --check: a file would change
inline constexpr int kUserError = 2;      // one line on stderr
inline constexpr int kDeadlock = 3;       // on stderr, a report of the wait of each warp
inline constexpr int kLimit = 4;          // --time-limit or --memory-limit; one line on stderr
inline constexpr int kCannotWrite = 5;    // one line on stderr; an existing file is unchanged

inline constexpr int kInterrupted = 130;  // by SIGINT, SIGTERM or SIGHUP, which then ends the program

// The reason for which a command ends without a result. With kSuccess it is a text that the user asked for.
struct Failure {
  int exit_code = kUserError;
  std::string text;
  Diagnostic diagnostic{};  // with a position if the failure has one; otherwise only the text

  Failure(int code, std::string what) : exit_code(code), text(std::move(what)), diagnostic{{}, 0, 0, text} {}
  Failure(const Diagnostic& what)
      : text(what.text()), diagnostic(what) {}  // NOLINT(google-explicit-constructor): every diagnostic is a user error
};

template <typename T>
using Outcome = std::expected<T, Failure>;

inline std::unexpected<Failure> user_error(std::string text) { return std::unexpected(Failure(kUserError, std::move(text))); }
inline std::unexpected<Failure> cannot_write(std::string text) { return std::unexpected(Failure(kCannotWrite, std::move(text))); }

}  // namespace warpfold::cli
