#include "workloads/layer/counts.h"

#include <stdexcept>

namespace warpfold::layer {

// [III]: table III of arXiv 2007.00072, its operations divided by its elements. Other operators: the operations of their formula,
// where each function (exp, tanh, sqrt) counts as one.
uint64_t flops_per_element(Work work) {
  switch (work) {
    case Work::kRelu:          // [III]: "-"
    case Work::kReluGradient:  // [III]: "-"
    case Work::kProduct:
    case Work::kAttention:
    case Work::kAttentionGradient:
    case Work::kAllToAll:
    case Work::kAllGather:
    case Work::kTranspose:
      return 0;
    case Work::kBias:             // [III]: 0.012 x 2^30 over 3 x 4,194,304
    case Work::kBiasGradient:     // [III]
    case Work::kDropout:          // [III]: the product with 1 / (1 - p)
    case Work::kDropoutGradient:  // [III]
    case Work::kResidual:         // [III]
    case Work::kAccumulate:       // [III]: "residual" of the backward pass
    case Work::kScale:
    case Work::kMultiply:
    case Work::kGate:
    case Work::kGateGradient:
    case Work::kModulateGradient:  // dy (1 + scale)
    case Work::kAllReduce:
    case Work::kReduceScatter:
      return 1;
    case Work::kMultiplyGradient:  // dy b, dy a
    case Work::kModulate:
    case Work::kGateWeightGradient:  // the product, its sum
    case Work::kSgd:                 // w -= lr g
      return 2;
    case Work::kModulationGradient:     // dy x and two sums
    case Work::kSilu:                   // exp, add, divide
    case Work::kRope:                   // x cos + x' sin
    case Work::kRopeGradient:           // the same by the opposite angle
    case Work::kRmsNormWeightGradient:  // x rstd, times dy, sum
      return 3;
    case Work::kRmsNorm:                  // square, sum, times rstd, times weight
    case Work::kLayerNormWeightGradient:  // [III]: 0.016 x 2^30 over 4,194,304
    case Work::kSoftmaxGradient:          // [III]: 0.156 x 2^30 over 33,554,432 is 5, one of them the dropout's
      return 4;
    case Work::kSoftmax:  // [III]: 0.188 x 2^30 over 33,554,432 is 6, one of them the dropout's
      return 5;
    case Work::kRmsNormGradient:  // dy w, x rstd, their product, its sum, times x rstd, subtract, times rstd
    case Work::kLayerNorm:        // [III]: 0.027 x 2^30 over 4,194,304
      return 7;
    case Work::kSiluGradient:  // dy s (1 + x (1 - s)); the sigmoid s counts 3
      return 8;
    case Work::kLayerNormGradient:  // [III]: 0.035 x 2^30 over 4,194,304
    case Work::kGelu:               // 0.5 x (1 + tanh(a (x + b x x x)))
      return 9;
    case Work::kAdam:  // v = mu v + (1 - mu) g: 3; r = rho r + (1 - rho) g g: 4; w -= lr v / (sqrt r + eps): 5
      return 12;
    case Work::kGeluGradient:  // the tanh t counts 6; dy (0.5 (1 + t) + 0.5 x (1 - t t) a (1 + 3 b x x)) counts 11
      return 17;
  }
  throw std::logic_error("an operator without a count");
}

OperatorClass class_of(Work work) {
  switch (work) {
    case Work::kProduct:
      return OperatorClass::kContraction;
    case Work::kAttention:
    case Work::kAttentionGradient:
      return OperatorClass::kAttention;
    case Work::kSoftmax:
    case Work::kSoftmaxGradient:
    case Work::kLayerNorm:
    case Work::kLayerNormGradient:
    case Work::kLayerNormWeightGradient:
    case Work::kRmsNorm:
    case Work::kRmsNormGradient:
    case Work::kRmsNormWeightGradient:
    case Work::kBiasGradient:  // normalisation: table I of arXiv 2007.00072 includes them in that class (0.17 %); its table III
                               // marks them elementwise
    case Work::kModulationGradient:
    case Work::kGateWeightGradient:
      return OperatorClass::kNormalisation;
    case Work::kAllReduce:
    case Work::kAllToAll:
    case Work::kAllGather:
    case Work::kReduceScatter:
      return OperatorClass::kCommunication;
    case Work::kSgd:
    case Work::kAdam:
      return OperatorClass::kOptimiser;
    default:
      return OperatorClass::kElementwise;
  }
}

}  // namespace warpfold::layer
