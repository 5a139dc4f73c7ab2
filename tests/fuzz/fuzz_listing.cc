#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "configs/load.h"
#include "traces/import/import.h"

namespace {

void add_tensor_map(warpfold::configs::KernelLaunch& launch) {
  launch.add_array()->set_name("x");
  launch.mutable_array(0)->set_bytes(8192);
  warpfold::configs::TensorMap& map = *launch.add_parameter()->mutable_tensor_map();
  map.set_array("x");
  map.set_element_bytes(2);
  for (const uint32_t extent : {64U, 32U}) map.add_extent(extent);
  for (const uint32_t side : {16U, 8U}) map.add_box(side);
}

// The words of "--assume FOO=alu,4" in the first line, which is cut off.
std::vector<warpfold::sass::AssumedOpcode> take_assumed(std::string_view& text) {
  constexpr std::string_view kOption = "--assume ";
  if (!text.starts_with(kOption)) return {};
  const size_t end = std::min(text.find('\n'), text.size());
  const auto assumed = warpfold::sass::parse_assumed_opcode(std::string(text.substr(kOption.size(), end - kOption.size())));
  text.remove_prefix(end);
  return assumed ? std::vector{*assumed} : std::vector<warpfold::sass::AssumedOpcode>();
}

}  // namespace

// Any text, behind a line that may assume an opcode, is a listing that imports, or one diagnostic. libFuzzer's entry.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  configs::KernelLaunch launch;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> questions;
  sass::ImportOptions options{.questions = &questions, .assume = take_assumed(text), .trust_addresses = size % 2 == 0};
  const bool asynchronous = text.find("SYNCS") != std::string_view::npos || text.find("UTMA") != std::string_view::npos;
  launch.set_architecture(asynchronous ? "sm_90" : "sm_80");
  const bool says_resources = text.find(".nv.shared") != std::string_view::npos || text.find("SHARED:") != std::string_view::npos;
  if (!says_resources) launch.set_shared_memory_bytes(4096);
  launch.mutable_grid()->set_x(3);
  launch.mutable_block()->set_x(40);
  for (const uint32_t value : {64U, 5U, 0U, 7U}) launch.add_parameter()->set_value(value);
  if (asynchronous) add_tensor_map(launch);
  if (text.find("SR_CgaCtaId") != std::string_view::npos) {
    launch.mutable_grid()->set_x(4);
    launch.mutable_cluster()->set_x(2);
  }
  const auto caches = [](uint32_t, uint32_t, uint32_t) {
    return traces::access::CacheSpec{.l1_bytes = 1024, .l2_bytes = 4096, .sms = 2, .ctas_per_sm = 1};
  };
  const sass::Limits limits{.instructions = 10'000, .passes = 1'000, .ctas = 1'000};
  (void)sass::import_listing("fuzz.sass", text, launch, {}, caches, limits, options);
  return 0;
}
