// Results as JSON, one or two of them, as `report` takes them: every rendering, or one message. libFuzzer's entry.

#include <fstream>

#include "tests/fuzz/input.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/render/output.h"

namespace {

// Ends a finding where the command fails other than by its user's fault.
void report(std::vector<std::string> arguments) {
  const auto done = warpfold::cli::report_command({std::move(arguments), "warpfold report"});
  if (done) return;
  warpfold::fuzz::require(done.error().exit_code == warpfold::cli::kUserError, done.error().text);
  warpfold::fuzz::require(!done.error().text.empty(), "refused without a message");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  static const fuzz::Scratch scratch;
  static std::ofstream nowhere("/dev/null");
  const cli::StandardOutput quiet(nowhere);
  const auto parts = fuzz::parts_of(fuzz::text_of(data, size), 2);
  const std::string one = scratch.write("one.json", parts[0]);
  const std::string other = scratch.write("other.json", parts[1]);
  for (const char* format : {"table", "json", "csv"}) {
    report({one, "--format", format});
    if (!parts[1].empty()) report({one, other, "--format", format});
  }
  report({one, "--perfetto", "/dev/null"});
  report(parts[1].empty() ? std::vector<std::string>{one, "--html", "/dev/null"}
                          : std::vector<std::string>{one, other, "--html", "/dev/null"});
  return 0;
}
