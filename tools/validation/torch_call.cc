#include <algorithm>
#include <bit>
#include <utility>

#include "tools/validation/operator_rows.h"

namespace warpfold::validation {
namespace {

constexpr uint64_t kHeldColumns = 1024;          // columns that a warp holds, in PyTorch's softmax and in Inductor's kernels
constexpr uint64_t kRegisterColumns = 4096;      // columns that a CTA of PyTorch's softmax holds in registers, as measured
constexpr uint64_t kLeastInductorColumns = 256;  // Inductor gives a CTA several shorter rows: not measured
constexpr uint64_t kPassColumns = 32768;         // with more columns, PyTorch's softmax reads a row three times, as measured

std::string sized(const std::string& name, uint64_t value) { return "parameter." + name + ".value=" + std::to_string(value); }

// Makes the kernels that profiles name, with their grids and blocks: docs/validation/operator_kernels.csv.
class TorchCall {
 public:
  TorchCall(const OperatorRow& row, const configs::Gpu& gpu)
      : row_(row),
        gpu_(gpu),
        fp32_(row.type == "fp32"),
        matrix_(static_cast<double>(row.rows * row.columns) * (fp32_ ? 4 : 2)),
        type_(fp32_ ? "_fp32" : "") {}

  Mapped<OperatorCall> make() {
    auto taken = row_.maker == RowMaker::kCompiled ? compiled() : row_.pass == RowPass::kForward ? eager() : eager_backward();
    if (!taken) return std::unexpected(taken.error());
    call_.rate_bytes = call_.bytes;
    return std::move(call_);
  }

 private:
  // `matrices`: how often the row's matrix is read or written.
  OperatorLaunch& add(const std::string& name, double matrices) {
    call_.bytes += matrices * matrix_;
    OperatorLaunch& launch = call_.launches.emplace_back();
    launch.name = name;
    launch.settings = {sized("rows", row_.rows), sized("columns", row_.columns)};
    return launch;
  }
  OperatorLaunch& add_pass(const std::string& name, double matrices) {
    OperatorLaunch& launch = add(name, matrices);
    launch.settings = {sized("elements", row_.rows * row_.columns)};
    return launch;
  }
  // A kernel of one CTA that fills a few hundred bytes, or the driver's memset.
  void add_small_fill() {
    constexpr uint32_t kThreads = 128;
    configs::Elementwise& fill = call_.launches.emplace_back().pass.emplace();
    fill.set_operation(configs::FILL);
    fill.set_element_bytes(4);
    fill.set_elements(uint64_t{kThreads} * 4);
    fill.set_threads_per_cta(kThreads);
  }

  Mapped<void> eager() {
    switch (row_.op) {
      case RowOperator::kRmsNorm:
        add("torch_rms_norm" + type_, 2);
        return {};
      case RowOperator::kLayerNorm:
        add("torch_layer_norm" + type_, 2);
        return {};
      case RowOperator::kResidualRmsNorm:
        add_pass("torch_add" + type_, 3);
        add("torch_rms_norm" + type_, 2);
        return {};
      case RowOperator::kSoftmax:
        return softmax("torch_softmax");
      case RowOperator::kCrossEntropy:
        if (auto added = softmax("torch_log_softmax"); !added) return added;
        add_small_fill();
        add("torch_nll_loss" + type_, 0);
        return {};
      case RowOperator::kReluSquared:
        add_pass("torch_relu" + type_, 2);
        add_pass("torch_square" + type_, 2);
        return {};
      case RowOperator::kAdd:
        add_pass("torch_add" + type_, 3);
        return {};
      case RowOperator::kGelu:
        add_pass("torch_gelu" + type_, 2);
        return {};
      case RowOperator::kSiluMultiply:
        add_pass("torch_silu" + type_, 2);
        add_pass("torch_multiply" + type_, 3);
        return {};
      case RowOperator::kCopy:
        return copy();
      case RowOperator::kDropout:
        return dropout();
      case RowOperator::kRowSums:
        add("torch_row_sums" + type_, 1);
        return {};
      case RowOperator::kRowMaximum:
        add("torch_row_maximum" + type_, 1);
        return {};
      case RowOperator::kColumnSums:
        return column_sums();
      case RowOperator::kTranspose:
        return transpose();
      case RowOperator::kIndexRows:
        return index_rows();
      case RowOperator::kCastFp32:
        add_pass("torch_cast", 3);
        return {};
      case RowOperator::kCastFp8:
      case RowOperator::kNone:
        break;
    }
    return not_mapped("PyTorch's kernels of this operator were not measured");
  }

  Mapped<void> softmax(const std::string& name) {
    if (row_.columns > kRegisterColumns && row_.columns < kPassColumns)
      return not_mapped("PyTorch's softmax of rows of " + std::to_string(row_.columns) + " was not measured");
    add(name + type_, 2);
    return {};
  }

  // The driver's copy, for whose kernel profiles give no shape. assumed: 256 threads, 16 bytes per thread.
  Mapped<void> copy() {
    call_.bytes += 2 * matrix_;
    configs::Elementwise& pass = call_.launches.emplace_back().pass.emplace();
    pass.set_operation(configs::COPY);
    pass.set_element_bytes(fp32_ ? 4 : 2);
    pass.set_elements(row_.rows * row_.columns);
    return {};
  }

  // As many CTAs as the SMs hold by threads, whatever their registers; the CTAs loop over the elements.
  Mapped<void> dropout() {
    constexpr uint64_t kThreads = 256, kThreadsAnSm = 2048;
    const uint64_t elements = row_.rows * row_.columns;
    OperatorLaunch& launch = add_pass("torch_dropout" + type_, fp32_ ? 2.25 : 2.5);
    launch.settings.push_back(sized("ctas", std::min(elements / kThreads, gpu_.sm_count() * kThreadsAnSm / kThreads)));
    return {};
  }

  // Reduce.cuh: CTAs of 32 x 4 threads and 128 columns. Enough CTAs share a column to fill the SMs, with at least 16 rows per
  // thread.
  Mapped<void> column_sums() {
    constexpr uint64_t kColumns = 128, kWarps = 4, kCtasAnSm = 16, kRowsAThread = 16;
    if (row_.columns % kColumns != 0) return not_mapped("no whole 128 columns");
    const uint64_t across = row_.columns / kColumns;
    const uint64_t to_fill = (gpu_.sm_count() * kCtasAnSm + across - 1) / across;
    const uint64_t by_rows = (row_.rows / kWarps + kRowsAThread - 1) / kRowsAThread;
    add_small_fill();
    add("torch_column_sums" + type_, 1).settings.push_back(sized("parts", std::max<uint64_t>(1, std::min(to_fill, by_rows))));
    return {};
  }

  // ATen's IntDivider divides by the number of rows through a multiplication and a shift; these are its constants.
  Mapped<void> transpose() {
    const uint64_t shift = std::bit_width(row_.rows - 1);
    const uint64_t multiplier = ((uint64_t{1} << 32) * ((uint64_t{1} << shift) - row_.rows)) / row_.rows + 1;
    OperatorLaunch& launch = add_pass("torch_transpose" + type_, 2);
    launch.settings.insert(launch.settings.end(), {sized("columns", row_.columns), sized("rows_divisor", row_.rows),
                                                   sized("rows_multiplier", multiplier), sized("rows_shift", shift)});
    return {};
  }

  // 16 bytes per thread for every type.
  Mapped<void> index_rows() {
    add("torch_index_rows", 2).settings = {sized("rows", row_.rows), sized("columns", row_.columns * (fp32_ ? 2 : 1))};
    return {};
  }

  Mapped<void> eager_backward() {
    if (row_.pass != RowPass::kBackward || fp32_) return not_mapped("PyTorch's kernels of this backward pass were not measured");
    if (row_.op == RowOperator::kRmsNorm) {
      add("rms_norm_backward_input", 3);
      add("rms_norm_backward_weight", 2);
      return {};
    }
    if (row_.op == RowOperator::kLayerNorm) {
      add("torch_layer_norm_backward_input", 3);
      add("torch_layer_norm_backward_weight", 2);
      return {};
    }
    if (row_.op != RowOperator::kSoftmax) return not_mapped("PyTorch's kernels of this backward pass were not measured");
    const bool by_warps = row_.columns <= kHeldColumns;
    if (by_warps && row_.columns != 256 && row_.columns != kHeldColumns)
      return not_mapped("PyTorch's backward pass of softmax of rows of " + std::to_string(row_.columns) + " was not measured");
    add_pass("torch_multiply", 3);
    add(by_warps ? "torch_softmax_backward" : "softmax_backward", 3);
    return {};
  }

  // A kernel of one CTA draws dropout's seeds.
  Mapped<void> compiled() {
    if (row_.pass != RowPass::kForward || fp32_) return not_mapped("Inductor's kernels of this pass were not measured");
    switch (row_.op) {
      case RowOperator::kRmsNorm:
        add("inductor_rms_norm", 2);
        return {};
      case RowOperator::kLayerNorm:
        add("inductor_layer_norm", 2);
        return {};
      case RowOperator::kResidualRmsNorm:
        add("inductor_residual_rms_norm", 3);
        return {};
      case RowOperator::kSoftmax:
        add("inductor_softmax", 2);
        return {};
      case RowOperator::kCrossEntropy:
        add("inductor_cross_entropy", 1);
        return {};
      case RowOperator::kReluSquared:
        add_pass("inductor_relu_squared", 2);
        return {};
      case RowOperator::kSiluMultiply:
        add_pass("inductor_swiglu", 3);
        return {};
      case RowOperator::kDropout:
        add_small_fill();
        add_pass("inductor_dropout", 2);
        return {};
      default:
        return not_mapped("Inductor's kernels of this operator were not measured");
    }
  }

  const OperatorRow& row_;
  const configs::Gpu& gpu_;
  bool fp32_;
  double matrix_;
  std::string type_;
  OperatorCall call_;
};

}  // namespace

bool was_profiled(const OperatorRow& row) {
  if (row.megatron || row.unfused) return false;
  if (row.maker == RowMaker::kCompiled)
    return row.pass == RowPass::kForward && row.type != "fp32" && row.columns >= kLeastInductorColumns;
  if (row.maker != RowMaker::kPyTorch) return false;
  if (row.pass == RowPass::kForward) return true;
  return row.pass == RowPass::kBackward && row.type != "fp32" && row.op != RowOperator::kReluSquared;
}

Mapped<OperatorCall> torch_call(const OperatorRow& row, const configs::Gpu& gpu) { return TorchCall(row, gpu).make(); }

}  // namespace warpfold::validation
