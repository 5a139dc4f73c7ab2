// Names of fused kernels, in the letters of arXiv 2007.00072, section IV: one or two for each operator, in order, with B in front
// for a kernel of the backward pass. Some of the paper's twelve names also encode the position of the kernel: AIB, BAOB and BAIB
// (attention's input or output bias), BEI (encoder input) and EBSB (encoder). The position follows from the operator's neighbours.
#include <algorithm>

#include "workloads/layer/fusion.h"

namespace warpfold::layer {

namespace {

class Namer {
 public:
  Namer(const Graph& graph, const FusedKernel& kernel) : graph_(graph), kernel_(kernel) {}

  std::string name() const {
    const Operator& first = at(kernel_.operators.front());
    if (first.kind != OperatorClass::kElementwise && first.kind != OperatorClass::kNormalisation) return product_name();
    const bool all_biases = std::ranges::all_of(kernel_.operators, [&](int member) { return is_bias(at(member)); });
    const std::string pass = first.pass == Pass::kBackward ? "B" : "";
    if (all_biases && first.attention) return pass + "A" + (of_heads(first) ? "I" : "O") + "B";
    const bool accumulates = first.work == Work::kAccumulate;
    if (accumulates && kernel_.operators.size() == 1) return pass + (graph_.tensor(first.outputs.front()).result ? "EI" : "E");
    return (accumulates ? "E" : "") + pass + letters();
  }

 private:
  const Operator& at(int index) const { return graph_.operators[static_cast<size_t>(index)]; }

  static bool is_bias(const Operator& each) { return each.work == Work::kBias || each.work == Work::kBiasGradient; }

  // True before attention, whose operands have single heads' elements (p); false for the output projection after it.
  static bool of_heads(const Operator& each) {
    return std::ranges::any_of(each.independent, [](const Dimension& dimension) { return dimension.name == "p"; });
  }

  std::string product_name() const {
    std::string all;
    for (const int member : kernel_.operators) all += (all.empty() ? "" : " + ") + at(member).name;
    return all;
  }

  std::string letters() const {
    // A bias gradient that shares no tensor with other members was fused only to save a launch. It shares the letter of the bias
    // gradient that is already present.
    std::string all;
    int biases = 0;
    for (const int member : kernel_.operators) biases += is_bias(at(member)) ? 1 : 0;
    for (const int member : kernel_.operators) {
      const Operator& each = at(member);
      if (each.work == Work::kBiasGradient && biases-- > 1) continue;
      // Softmax and an adjacent dropout share letters.
      const bool with_softmax =
          each.attention && (each.work == Work::kDropout || each.work == Work::kDropoutGradient) && !of_row(each);
      if (!with_softmax) all += letters_of(each);
      if (each.work == Work::kLayerNormGradient || each.work == Work::kRmsNormGradient) all += goes_round(each) ? "R" : "";
    }
    return all;
  }

  // True for the dropout after the output projection, false for the dropout of probabilities.
  static bool of_row(const Operator& each) {
    return std::ranges::any_of(each.independent, [](const Dimension& dimension) { return dimension.name == "i"; });
  }

  // True if the sum at the other end of a residual connection also reads the gradient.
  bool goes_round(const Operator& each) const {
    const std::vector<int>& readers = graph_.tensor(each.outputs.front()).consumers;
    return std::ranges::any_of(readers, [&](int reader) { return at(reader).work == Work::kAccumulate; });
  }

  static const char* letters_of(const Operator& each) {
    switch (each.work) {
      case Work::kBias:
      case Work::kBiasGradient:
        return "B";
      case Work::kDropout:
      case Work::kDropoutGradient:
        return "D";
      case Work::kResidual:
      case Work::kRelu:
      case Work::kReluGradient:
        return "R";
      case Work::kAccumulate:
        return "";
      case Work::kLayerNorm:
      case Work::kLayerNormGradient:
        return "LN";
      case Work::kLayerNormWeightGradient:
        return "SB";  // scale and bias
      case Work::kSoftmax:
        return "SM";
      case Work::kSoftmaxGradient:
        return "S";
      case Work::kRmsNorm:
      case Work::kRmsNormGradient:
        return "RN";
      case Work::kRmsNormWeightGradient:
        return "SC";  // scale
      case Work::kGelu:
      case Work::kGeluGradient:
        return "G";
      case Work::kSilu:
      case Work::kSiluGradient:
        return "SI";
      case Work::kMultiply:
      case Work::kMultiplyGradient:
        return "M";
      case Work::kRope:
      case Work::kRopeGradient:
        return "P";  // position
      case Work::kModulate:
      case Work::kModulateGradient:
      case Work::kModulationGradient:
        return "A";  // adaptive
      case Work::kGate:
      case Work::kGateGradient:
      case Work::kGateWeightGradient:
        return "T";
      case Work::kScale:
        return "C";
      default:
        return "?";
    }
  }

  const Graph& graph_;
  const FusedKernel& kernel_;
};

}  // namespace

std::string fused_name(const Graph& graph, const FusedKernel& kernel) { return Namer(graph, kernel).name(); }

}  // namespace warpfold::layer
