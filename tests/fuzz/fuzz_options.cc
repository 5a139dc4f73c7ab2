// Arguments of a command, one a line: options, settings and names, or one message. libFuzzer's entry.

#include "tests/fuzz/input.h"
#include "tools/warpfold/run/options.h"
#include "tools/warpfold/run/run_options.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  cli::Options options("warpfold simulate SCENARIO [options]", "A command.", "");
  options.positional("SCENARIO", 1, 1);
  options.add_settings();
  cli::add_run_options(options);
  options.add_html();
  options.add_perfetto();
  options.add_output();
  const auto parsed = options.parse(fuzz::lines_of(fuzz::text_of(data, size)));
  if (!parsed) return fuzz::require(!parsed.error().text.empty(), "refused without a message"), 0;
  (void)options.settings();
  if (const auto how = cli::run_options(options); !how) fuzz::require(!how.error().text.empty(), "refused without a message");
  return 0;
}
