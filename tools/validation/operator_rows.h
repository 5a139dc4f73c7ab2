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
  bool unfused = false;     // Liger's benchmark of residual and RMSNorm: an addition, RMSNorm, a second product with the weight
};

// Reads the operator from a row. Not mapped if the row names no operator, or does not state its size or type.
Mapped<OperatorRow> operator_row(const MeasuredRow& row);

// One launch of an operator: a launch description (configs/kernels/operators/NAME.textproto) with "PATH=VALUE" settings.
struct OperatorLaunch {
  std::string name;
  std::vector<std::string> settings;
  std::optional<configs::Elementwise> pass;  // used instead, if set: a pass with as much work per thread as the row's maker assigns
};
// The launches of a row's call, in order, and the bytes that its rate counts.
struct OperatorCall {
  std::vector<OperatorLaunch> launches;
  double bytes = 0;       // the least bytes that the launches move
  double rate_bytes = 0;  // the bytes that the source divides by time
};
Mapped<OperatorCall> operator_call(const OperatorRow& row, const configs::Gpu& gpu);

// PyTorch's and Inductor's kernels, as a profile of PyTorch 2.11 on an H100 and an H200 shows them. was_profiled() tells whether
// the profile covers the row.
bool was_profiled(const OperatorRow& row);
Mapped<OperatorCall> torch_call(const OperatorRow& row, const configs::Gpu& gpu);

}  // namespace warpfold::validation
