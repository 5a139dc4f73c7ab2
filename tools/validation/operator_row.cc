#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>

#include "configs/escape/quoted.h"
#include "tools/validation/operator_rows.h"

namespace warpfold::validation {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return text;
}
bool says(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

template <typename Value>
struct Word {
  std::string_view word;
  Value value;
};

// The value of the first word in the table that occurs in the text.
template <typename Value, size_t kWords>
Value found(std::string_view text, const std::array<Word<Value>, kWords>& table, Value otherwise) {
  const auto* const word = std::ranges::find_if(table, [&](const auto& each) { return says(text, each.word); });
  return word == table.end() ? otherwise : word->value;
}

constexpr std::array kOperators{Word<RowOperator>{"fused_add_rms", RowOperator::kResidualRmsNorm},
                                Word<RowOperator>{"fwd+res", RowOperator::kResidualRmsNorm},
                                Word<RowOperator>{"rms_norm", RowOperator::kRmsNorm},
                                Word<RowOperator>{"rmsnorm", RowOperator::kRmsNorm},
                                Word<RowOperator>{"layer_norm", RowOperator::kLayerNorm},
                                Word<RowOperator>{"layernorm", RowOperator::kLayerNorm},
                                Word<RowOperator>{"softmax", RowOperator::kSoftmax},
                                Word<RowOperator>{"cross-entropy", RowOperator::kCrossEntropy},
                                Word<RowOperator>{"cross_entropy", RowOperator::kCrossEntropy},
                                Word<RowOperator>{"ce fwd", RowOperator::kCrossEntropy},
                                Word<RowOperator>{"ce bwd", RowOperator::kCrossEntropy},
                                Word<RowOperator>{"relu_squared", RowOperator::kReluSquared},
                                Word<RowOperator>{"cast bf16->fp8", RowOperator::kCastFp8}};
// Names that occur inside other operators' names: they must match as a whole.
constexpr std::array kWholeNames{Word<RowOperator>{"add", RowOperator::kAdd},
                                 Word<RowOperator>{"copy", RowOperator::kCopy},
                                 Word<RowOperator>{"gelu fwd", RowOperator::kGelu},
                                 Word<RowOperator>{"silu and multiply fwd", RowOperator::kSiluMultiply},
                                 Word<RowOperator>{"dropout fwd", RowOperator::kDropout},
                                 Word<RowOperator>{"row sums", RowOperator::kRowSums},
                                 Word<RowOperator>{"maximum of rows", RowOperator::kRowMaximum},
                                 Word<RowOperator>{"column sums", RowOperator::kColumnSums},
                                 Word<RowOperator>{"transpose", RowOperator::kTranspose},
                                 Word<RowOperator>{"index rows", RowOperator::kIndexRows},
                                 Word<RowOperator>{"cast bf16 to fp32", RowOperator::kCastFp32}};
constexpr std::array kPasses{Word<RowPass>{"bwd", RowPass::kBackward}, Word<RowPass>{"backward", RowPass::kBackward},
                             Word<RowPass>{"full", RowPass::kFull}};
constexpr std::array kMakers{Word<RowMaker>{"quack", RowMaker::kQuack},
                             Word<RowMaker>{"cute", RowMaker::kQuack},
                             Word<RowMaker>{"torchao", RowMaker::kTorchao},
                             Word<RowMaker>{"torch.compile", RowMaker::kCompiled},
                             Word<RowMaker>{"torch_compile", RowMaker::kCompiled},
                             Word<RowMaker>{"inductor", RowMaker::kCompiled},
                             Word<RowMaker>{"helion", RowMaker::kHelion},
                             Word<RowMaker>{"megatron", RowMaker::kMegatron},
                             Word<RowMaker>{"pytorch", RowMaker::kPyTorch},
                             Word<RowMaker>{"aten", RowMaker::kPyTorch},
                             Word<RowMaker>{"torch (liger", RowMaker::kPyTorch},
                             Word<RowMaker>{"huggingface", RowMaker::kUnknown},
                             Word<RowMaker>{"liger", RowMaker::kLiger},
                             Word<RowMaker>{"cudnn", RowMaker::kCudnn}};

// Reads a shape such as "1x192x5120": the product of all extents but the last gives the rows.
bool take_shape(std::string_view text, OperatorRow& row) {
  uint64_t rows = 1;
  uint64_t last = 0;
  for (size_t at = 0; at < text.size();) {
    uint64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), extent);
    if (error != std::errc()) return false;
    rows *= last == 0 ? 1 : last;
    last = extent;
    at = static_cast<size_t>(end - text.data()) + 1;
    if (at > text.size() || text[at - 1] != 'x') break;
  }
  row.rows = rows;
  row.columns = last;
  return row.columns > 0;
}

std::optional<uint64_t> size_of(const MeasuredRow& row, std::string_view name) {
  const std::string text = row.option(name);
  uint64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

// Takes the sizes from the columns M and N. Liger's rows state the swept size and the other sizes in dims_other instead.
void take_sizes(const MeasuredRow& from, OperatorRow& row) {
  if (from.count("M") && from.count("N")) {
    row.rows = *from.count("M");
    row.columns = *from.count("N");
    return;
  }
  if (take_shape(from.option("shape"), row)) return;
  const auto columns = size_of(from, "N") ? size_of(from, "N") : size_of(from, "H") ? size_of(from, "H") : size_of(from, "V");
  row.columns = columns.value_or(0);
  if (const auto m = size_of(from, "M")) {
    row.rows = *m;
    return;
  }
  row.rows = size_of(from, "B").value_or(0) * (size_of(from, "T") ? *size_of(from, "T") : size_of(from, "S").value_or(0));
}

// Liger's scripts state a type, except for cross-entropy (FP32: torch.randn without a type) and Megatron's RMSNorm (BF16).
std::string type_of(const MeasuredRow& from, const OperatorRow& row) {
  const std::string text = lower(from.text("dtype") + " " + from.option("dtype"));
  if (says(text, "bf16") || says(text, "bfloat16") || row.megatron) return "bf16";
  if (says(text, "fp16") || says(text, "float16")) return "fp16";
  if (says(text, "fp32") || says(text, "float32")) return "fp32";
  return row.maker == RowMaker::kLiger && row.op == RowOperator::kCrossEntropy ? "fp32" : "";
}

// True if the row states a release of PyTorch, such as "torch 2.7.1", other than that of the profile (operator_kernels.csv).
bool other_release(std::string_view maker) { return says(maker, "torch 2.") && !says(maker, "torch 2.11"); }

}  // namespace

Mapped<OperatorRow> operator_row(const MeasuredRow& from) {
  OperatorRow row;
  const std::string kernel = lower(from.text("kernel"));
  const auto* const whole = std::ranges::find(kWholeNames, kernel, &Word<RowOperator>::word);
  row.op = whole != kWholeNames.end() ? whole->value : found(kernel, kOperators, RowOperator::kNone);
  if (row.op == RowOperator::kNone) {
    const std::string needed = "a memory-bound row needs operation, elements and element_bytes in dims_other";
    return not_mapped(kernel.empty() ? needed : "no operator for " + escape::quoted(from.text("kernel")) + "; " + needed);
  }
  row.pass = found(kernel, kPasses, RowPass::kForward);
  row.maker = found(lower(from.text("impl")), kMakers, RowMaker::kUnknown);
  row.megatron = says(kernel, "megatron");
  row.transposed = says(kernel, "transposed");
  const std::string maker = lower(from.text("impl"));
  row.unfused = maker.starts_with("liger_rms_norm");
  row.profiled = says(maker, "cudnn backend") || says(from.text("how_read"), "CUPTI");
  row.kernel_known = row.maker != RowMaker::kCudnn && !(row.maker == RowMaker::kCompiled && other_release(maker));
  if (row.maker == RowMaker::kUnknown) return not_mapped("no kernels known of " + escape::quoted(from.text("impl")));
  take_sizes(from, row);
  if (row.rows == 0 || row.columns == 0) return not_mapped("rows and columns are not stated");
  row.type = type_of(from, row);
  if (row.type.empty()) return not_mapped("the element type is not stated");
  const uint64_t vector = row.type == "fp32" ? 4 : 8;
  if (row.columns % vector != 0) return not_mapped("rows of " + std::to_string(row.columns) + " are no whole 16-byte vectors");
  return row;
}

}  // namespace warpfold::validation
