#include <cstdint>
#include <string_view>

#include "configs/load.h"
#include "traces/import/import.h"

// Any text is a listing that imports, or one diagnostic. libFuzzer's entry.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  configs::KernelLaunch launch;
  launch.set_architecture("sm_80");
  launch.mutable_grid()->set_x(3);
  launch.mutable_block()->set_x(40);
  for (const uint32_t value : {64U, 5U, 0U, 7U}) launch.add_parameter()->set_value(value);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)sass::import_listing("fuzz.sass", text, launch, {});
  return 0;
}
