// A GPU and its base: a checked GPU, which loads again as it is resolved, or one diagnostic. libFuzzer's entry.

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>

#include "configs/gpu_balance.h"
#include "configs/load.h"
#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  static const fuzz::Scratch scratch;
  const auto parts = fuzz::parts_of(fuzz::text_of(data, size), 2);
  const std::string file = scratch.write("gpu.textproto", parts[0]);
  scratch.write("base.textproto", parts[1]);
  const auto gpu = configs::load_gpu(file);
  if (!gpu) return fuzz::require_message(gpu.error()), 0;
  (void)configs::find_imbalance(*gpu);
  std::string text;
  google::protobuf::TextFormat::PrintToString(*gpu, &text);
  const auto again = configs::load_gpu(scratch.write("again.textproto", text));
  fuzz::require(again && google::protobuf::util::MessageDifferencer::Equals(*gpu, *again), "a resolved GPU loads as another");
  return 0;
}
