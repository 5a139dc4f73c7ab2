#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/gpu.pb.h"
#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {

// An operator's pass as published rows name it: "RMSNorm fwd", "fused_add_rms_norm backward", "CE bwd".
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
// The library or compiler whose kernels were measured, by the row's `impl`.
enum class RowMaker { kUnknown, kQuack, kLiger, kCompiled, kHelion, kCudnn, kPyTorch, kMegatron, kTorchao };

struct OperatorRow {
  RowOperator op = RowOperator::kNone;
  RowPass pass = RowPass::kForward;
  RowMaker maker = RowMaker::kUnknown;
  std::string type;  // "bf16", "fp16", "fp32"
  uint64_t rows = 0;
  uint64_t columns = 0;
  bool megatron = false;    // the script's backward pass has the forward pass and a sum in it
  bool profiled = false;    // a profile's kernels, no events: cuDNN's script, and rows whose how_read names CUPTI
  bool transposed = false;  // of a cast
  bool unfused = false;     // Liger's benchmark of residual and RMSNorm: an addition, its RMSNorm, and the weight once more
};

// What the row says of it; not mapped where it names no operator, leaves its size open or its type.
Mapped<OperatorRow> operator_row(const MeasuredRow& row);

// One launch of an operator's description (configs/kernels/operators/NAME.textproto): "PATH=VALUE" of it.
struct OperatorLaunch {
  std::string name;
  std::vector<std::string> settings;
  std::optional<configs::Elementwise> pass;  // instead: a pass whose threads have as much as the row's maker gives them
};
// The launches of a row's call, in order, with the bytes that its rate counts.
struct OperatorCall {
  std::vector<OperatorLaunch> launches;
  double bytes = 0;       // that the launches move at least
  double rate_bytes = 0;  // that the source divides by time
};
Mapped<OperatorCall> operator_call(const OperatorRow& row, const configs::Gpu& gpu);

// PyTorch's and Inductor's kernels as a profile of PyTorch 2.11 on an H100 and an H200 shows them, and whether it shows the row's.
bool was_profiled(const OperatorRow& row);
Mapped<OperatorCall> torch_call(const OperatorRow& row, const configs::Gpu& gpu);

}  // namespace warpfold::validation
