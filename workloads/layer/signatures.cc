#include "workloads/layer/signatures.h"

#include <stdexcept>

namespace warpfold::layer {

Signature signature_of(Work work) {
  switch (work) {
    case Work::kProduct:
      return {Fit::kProduct, 2, 2, 1, 1};
    case Work::kAttention:  // queries, keys, values; result, log-sum-exp
      return {Fit::kAttention, 3, 3, 1, 2};
    case Work::kAttentionGradient:  // gradient, queries, keys, values, result, log-sum-exp
      return {Fit::kAttentionGradient, 5, 6, 3, 3};
    case Work::kScale:
    case Work::kRelu:
    case Work::kGelu:
    case Work::kSilu:
    case Work::kRope:
    case Work::kRopeGradient:
      return {Fit::kMap, 1, 1, 1, 1};
    case Work::kDropout:  // result, mask
      return {Fit::kMap, 1, 1, 1, 2};
    case Work::kBias:
    case Work::kResidual:
    case Work::kAccumulate:
    case Work::kMultiply:
    case Work::kDropoutGradient:
    case Work::kReluGradient:
    case Work::kGeluGradient:
    case Work::kSiluGradient:
    case Work::kModulateGradient:
    case Work::kGate:
    case Work::kGateGradient:
    case Work::kSgd:
      return {Fit::kMap, 2, 2, 1, 1};
    case Work::kMultiplyGradient:
      return {Fit::kMap, 3, 3, 2, 2};
    case Work::kModulate:  // x, shift, scale
      return {Fit::kMap, 3, 3, 1, 1};
    case Work::kAdam:  // gradients, weights, both moments
      return {Fit::kMap, 4, 4, 3, 3};
    case Work::kSoftmax:
      return {Fit::kRows, 1, 1, 1, 1};
    case Work::kSoftmaxGradient:
      return {Fit::kRows, 2, 2, 1, 1};
    case Work::kLayerNorm:  // x, weights; result, statistics
    case Work::kRmsNorm:
      return {Fit::kRows, 1, 2, 1, 2};
    case Work::kLayerNormGradient:  // gradient, x, statistics, weights
    case Work::kRmsNormGradient:
      return {Fit::kRows, 3, 4, 1, 1};
    case Work::kBiasGradient:
      return {Fit::kSums, 1, 1, 1, 1};
    case Work::kLayerNormWeightGradient:  // gradient, x, statistics
    case Work::kRmsNormWeightGradient:
      return {Fit::kSums, 3, 3, 1, 1};
    case Work::kModulationGradient:
      return {Fit::kSums, 2, 2, 2, 2};
    case Work::kGateWeightGradient:
      return {Fit::kSums, 2, 2, 1, 1};
    case Work::kTranspose:
      return {Fit::kTranspose, 1, 1, 1, 1};
    case Work::kAllReduce:
    case Work::kAllToAll:
    case Work::kAllGather:
    case Work::kReduceScatter:
      return {Fit::kNone, 1, 1, 1, 1};
  }
  throw std::logic_error("an operator without a signature");
}

}  // namespace warpfold::layer
