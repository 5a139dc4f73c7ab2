#include <cstdint>
#include <string>

#include "configs/load.h"
#include "configs/model.h"
#include "workloads/layer/build.h"
#include "workloads/layer/fusion.h"
#include "workloads/layer/listed.h"

// Any text is a model whose layer can be made and fused, or one diagnostic. libFuzzer's entry.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpfold;
  configs::TransformerModel model;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!configs::parse_text("fuzz.textproto", text, model)) return 0;
  if (const auto fault = configs::settle_model(model)) {
    if (fault->message.empty()) __builtin_trap();
    return 0;
  }
  if (model.operator__size() > 0) {
    const auto listed = layer::listed_layer(model);
    if (!listed && listed.error().message.empty()) __builtin_trap();
    if (!listed) return 0;
  }
  for (const bool backward : {false, true}) {
    const layer::Graph graph = layer::build_layer(model, {.backward = backward, .stacked = backward});
    if (layer::words_of(graph, layer::fuse(graph, layer::Epilogue::kFull)) > layer::words_of(graph, layer::unfused(graph)))
      __builtin_trap();
  }
  return 0;
}
