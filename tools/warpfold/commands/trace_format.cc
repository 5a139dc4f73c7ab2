#include "configs/read_file.h"
#include "tools/warpfold/commands/trace_verbs.h"
#include "traces/text_layout.h"

namespace warpfold::cli {

Outcome<void> trace_format(const Invocation& invocation) {
  Options options(
      "warpfold trace format FILE... [options]",
      "Prints the text form of traces (.wfs) in its layout: indentation, blanks, a ; behind each instruction. Words and\n"
      "comments are unchanged. docs/trace_language.md describes the language.",
      "  warpfold trace format kernels.wfs\n  warpfold trace format --in-place *.wfs\n"
      "  warpfold trace format --check *.wfs\n");
  options.positional("FILE", 1, -1);
  options.add()("in-place,i", "write each file that changes, and print nothing")(
      "check", "write nothing; exit code 1 and the names of files that would change");
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  const bool check = options.has("check");
  const bool in_place = options.has("in-place");
  if (check && in_place) return user_error("--check writes no file; leave out --in-place");
  std::string unformatted;
  for (const std::string& file : options.arguments()) {
    const auto text = read_file(file);
    if (!text) return std::unexpected(Failure(text.error()));
    const auto laid_out = traces::lay_out_text(file, *text);
    if (!laid_out) return std::unexpected(Failure(laid_out.error()));
    if (check) {
      if (*laid_out != *text) unformatted += (unformatted.empty() ? "not formatted: " : ", ") + file;
    } else if (!in_place || *laid_out != *text) {
      if (auto written = write_output(in_place ? file : "", *laid_out); !written) return written;
    }
  }
  if (!unformatted.empty()) return std::unexpected(Failure(kUnformatted, unformatted));
  return {};
}

}  // namespace warpfold::cli
