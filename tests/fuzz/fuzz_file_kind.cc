// Any file is of some kind or of none; the first byte chooses the ending of its name. libFuzzer's entry.

#include <array>

#include "tests/fuzz/input.h"
#include "tools/warpfold/run/file_kind.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  static const fuzz::Scratch scratch;
  if (size == 0) return 0;
  constexpr std::array<std::string_view, 5> names{"file.textproto", "file.json", "file.csv", "file.sass", "file"};
  const std::string file = scratch.write(names[data[0] % names.size()], fuzz::text_of(data + 1, size - 1));
  const auto kind = cli::kind_of_file(file);
  if (!kind) fuzz::require(!kind.error().text.empty(), "refused without a message");
  const auto found = cli::find_of_kind(file, cli::FileKind::kScenario, "simulate");
  if (!found) fuzz::require(!found.error().text.empty(), "refused without a message");
  return 0;
}
