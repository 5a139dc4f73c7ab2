#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/gpu.pb.h"
#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {

// An operator in the kernel column of published rows: "RMSNorm fwd", "fused_add_rms_norm backward", "CE bwd".
enum class RowOperator {
  kNone,
  kRmsNorm,
  kResidualRmsNorm,
  kLayerNorm,
  kSoftmax,
  kCrossEntropy,
  kReluSquared,
  kCastFp8,
  kAdd,
  kCopy,
  kGelu,
  kSiluMultiply,
  kDropout,
  kRowSums,
  kRowMaximum,
  kColumnSums,
  kTranspose,
  kIndexRows,
  kCastFp32,
};
enum class RowPass { kForward, kBackward, kFull };
// The library or compiler that made the measured kernels, by the row's `impl`.
enum class RowMaker { kUnknown, kQuack, kLiger, kCompiled, kHelion, kCudnn, kPyTorch, kMegatron, kTorchao };

struct OperatorRow {
  RowOperator op = RowOperator::kNone;
  RowPass pass = RowPass::kForward;
  RowMaker maker = RowMaker::kUnknown;
  std::string type;  // "bf16", "fp16", "fp32"
  uint64_t rows = 0;
  uint64_t columns = 0;
  bool megatron = false;    // the script's backward pass includes the forward pass and a sum
  bool profiled = false;    // kernel times of a profile instead of events: cuDNN's script, and rows whose how_read names CUPTI
  bool transposed = false;  // a cast also transposes
  // The kernel that the measured program ran is not known: cuDNN's code is closed, and torch.compile of another release than the
  // profiled one writes other kernels. The row is simulated as the nearest relative.
  bool kernel_known = true;
  bool unfused = false;  // Liger's benchmark of residual and RMSNorm: an addition, RMSNorm, a second product with the weight
};

// Reads the operator from a row. Not mapped if the row names no operator, or does not state its size or type.
Mapped<OperatorRow> operator_row(const MeasuredRow& row);

// Bytes that the program reads or writes before a launch. `stream` names the stream of the launch that reads the same tensor;
// empty: the launch does not read it.
struct Touched {
  std::string stream{};
  uint64_t bytes = 0;
  bool written = true;
};
// One launch of an operator: a launch description (configs/kernels/operators/NAME.textproto) with "PATH=VALUE" settings.
struct OperatorLaunch {
  std::string name;
  std::vector<std::string> settings;
  std::optional<configs::Elementwise>
      pass{};                     // used instead, if set: a pass with as much work per thread as the row's maker assigns
  std::vector<Touched> before{};  // in order; the launch finds in L2 what these leave
};
// Makes the launch's kernel, named "pass"; `folder` has the launch descriptions. Not mapped: no operator of this name, or sizes
// that its description refuses.
Mapped<configs::Kernel> operator_kernel(const OperatorLaunch& launch, const std::string& folder);
// The launches of a row's call, in order, and the bytes that its rate counts.
struct OperatorCall {
  std::vector<OperatorLaunch> launches;
  double bytes = 0;       // the least bytes that the launches move
  double rate_bytes = 0;  // the bytes that the source divides by time
  double calls = 1;       // the source divides the time of all launches by this
};
Mapped<OperatorCall> operator_call(const OperatorRow& row, const configs::Gpu& gpu);

// PyTorch's and Inductor's kernels, as a profile of PyTorch 2.11 on an H100 and an H200 shows them. was_profiled() tells whether
// the profile covers the row.
bool was_profiled(const OperatorRow& row);
Mapped<OperatorCall> torch_call(const OperatorRow& row, const configs::Gpu& gpu);

// Kernels between the matrix products of a decoder layer. Profiles of vLLM and of its fork Sarathi name them.
enum class VllmLayer {
  kRmsNorm,
  kLayerNorm,
  kAddRmsNorm,
  kDecoderNorms,
  kHeadNorms,
  kSiluMultiply,
  kGelu,
  kRope,
  kAdd,
  kAdds,
  kEmbedding
};
enum class VllmProfile { kVidur, kServingSim, kTokenWeave };
struct VllmRow {
  VllmProfile profile = VllmProfile::kVidur;
  VllmLayer layer = VllmLayer::kRmsNorm;
  uint64_t tokens = 0;
  uint64_t hidden = 0;        // columns of the residual stream
  uint64_t expanded = 0;      // columns of the feed-forward network on one rank
  uint64_t heads = 0;         // of queries on one rank
  uint64_t kv_heads = 0;      // of keys on one rank
  uint64_t head_columns = 0;  // elements of a head
  bool gated = true;
};
// True if `impl` names one of these profiles.
bool of_vllm(const MeasuredRow& row);
// Reads layer, model and sizes. Not mapped: an unknown layer, version or model; missing sizes; sizes that the ranks do not divide.
Mapped<VllmRow> vllm_row(const MeasuredRow& row);
// Launches of the layer's kernels, with the state of L2 that the profiled program leaves before each of them.
OperatorCall vllm_call(const VllmRow& row, const configs::Gpu& gpu);

}  // namespace warpfold::validation
