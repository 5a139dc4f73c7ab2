// A table of operators' listings: read, or one diagnostic. libFuzzer's entry.

#include "configs/operator_kernels.h"
#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  static const fuzz::Scratch scratch;
  const std::string file = scratch.write("operators.textproto", fuzz::text_of(data, size));
  const auto table = configs::load_operator_kernels(file, {"rms_norm", "softmax"});
  if (!table) fuzz::require_message(table.error());
  return 0;
}
