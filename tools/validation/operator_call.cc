#include <algorithm>
#include <bit>
#include <utility>

#include "tools/validation/operator_rows.h"

namespace warpfold::validation {
namespace {

constexpr uint64_t kBlockRowColumns = 256;  // Liger: with rows this short and this many, a CTA processes several rows
constexpr uint64_t kBlockRowRows = 32768;
constexpr uint64_t kCudnnColumns = 65536;  // longer rows reach a quarter of the bandwidth (S1380): another kernel
constexpr uint64_t kClusterBytes = 32768;  // Quack: largest part of a BF16 row per CTA; a longer row takes a cluster
// Host time of an autograd call, independent of the size up to 8192 columns: 0.297 to 0.302 ms on an H100 (S1966, S1967, S1969),
// 0.286 on an A100 (S1824). For a function without weights, 0.077 to 0.088 ms up to 4096 columns (S1884 to S1888).
constexpr double kAutogradUs = 300;
constexpr double kAutogradWithoutWeightsUs = 80;
constexpr double kTypicalEfficiency = 0.8;  // share of DRAM's peak, compared with the host time: 74 to 88 % (RRZE, TileSight)

std::string sizes(const std::string& name, uint64_t value) { return "parameter." + name + ".value=" + std::to_string(value); }

class Call {
 public:
  Call(const OperatorRow& row, const configs::Gpu& gpu)
      : row_(row),
        gpu_(gpu),
        element_(row.type == "fp32" ? 4 : 2),
        matrix_(static_cast<double>(row.rows * row.columns * element_)) {}

  // The bytes that the source divides by time, which are the bytes that a call must move. Quack counts a weight in FP32. cuDNN's
  // script counts weights, their gradients and the moments of rows. 0: the source states times.
  double rate_bytes() const {
    const bool backward = row_.pass == RowPass::kBackward;
    const auto columns = static_cast<double>(row_.columns), rows = static_cast<double>(row_.rows);
    switch (row_.op) {
      case RowOperator::kRmsNorm:
      case RowOperator::kResidualRmsNorm:
      case RowOperator::kLayerNorm: {
        const double moments = 4.0 * rows * (row_.op == RowOperator::kLayerNorm ? 2 : 1);
        const double beside = row_.profiled ? moments + columns * static_cast<double>(element_) * (backward ? 2 : 1) : 4 * columns;
        return (backward ? 3 : row_.op == RowOperator::kResidualRmsNorm ? 4 : 2) * matrix_ + beside;
      }
      case RowOperator::kSoftmax:
        return (backward ? 3 : 2) * matrix_;
      case RowOperator::kCrossEntropy:
        return backward ? 2 * matrix_ + 16 * rows : matrix_ + 12 * rows;
      default:
        return 0;
    }
  }

  Mapped<OperatorCall> make() {
    call_.rate_bytes = rate_bytes();
    if (auto taken = take_operator(); !taken) return std::unexpected(taken.error());
    const double us = call_.bytes / (gpu_.dram().bandwidth_gb_per_s() * kTypicalEfficiency * 1e3);
    if (us < host_us()) return not_mapped("the host's autograd calls take longer than the kernels in this source");
    return std::move(call_);
  }

 private:
  Mapped<void> take_operator() {
    switch (row_.op) {
      case RowOperator::kRmsNorm:
      case RowOperator::kResidualRmsNorm:
      case RowOperator::kLayerNorm:
        return norm();
      case RowOperator::kSoftmax:
        return softmax();
      case RowOperator::kCrossEntropy:
        return cross_entropy();
      case RowOperator::kReluSquared:
        return relu_squared();
      case RowOperator::kCastFp8:
        return cast_fp8();
      default:
        break;
    }
    return not_mapped("no kernel of this maker does this");
  }

  // Least time between the events of a call of Liger's autograd functions: the host's time, if the kernels are shorter.
  double host_us() const {
    if (row_.maker != RowMaker::kLiger || row_.op == RowOperator::kCrossEntropy || row_.pass == RowPass::kForward) return 0;
    if (row_.op == RowOperator::kReluSquared) return row_.pass == RowPass::kFull ? kAutogradWithoutWeightsUs : 0;
    return kAutogradUs;
  }

  // Adds a launch. FP16 runs as BF16: the same bytes, and one conversion per element. `matrices`: how often the row's matrix is
  // read or written.
  OperatorLaunch& add(const std::string& name, double matrices, uint64_t rows, uint64_t columns) {
    call_.bytes += matrices * matrix_;
    OperatorLaunch& launch = call_.launches.emplace_back();
    launch.name = name + (element_ == 4 ? "_fp32" : "");
    launch.settings = {sizes("rows", rows), sizes("columns", columns)};
    return launch;
  }
  OperatorLaunch& add(const std::string& name, double matrices) { return add(name, matrices, row_.rows, row_.columns); }
  OperatorLaunch& add_pass(const std::string& name, double matrices) {
    OperatorLaunch& launch = add(name, matrices);
    launch.settings = {sizes("elements", row_.rows * row_.columns)};
    return launch;
  }

  // Quack: each CTA of a cluster processes a part of a row, modelled as a separate row. The exchange over shared memory is omitted.
  OperatorLaunch& add_clustered(const std::string& name, double matrices) {
    const uint64_t bytes = element_ == 4 ? kClusterBytes / 2 : kClusterBytes;  // FP32: as many bytes as the operator holds
    const uint64_t ctas = (row_.columns * element_ + bytes - 1) / bytes;
    if (row_.maker != RowMaker::kQuack || row_.columns % (ctas * 8) != 0) return add(name, matrices);
    return add(name, matrices, row_.rows * ctas, row_.columns / ctas);
  }

  // Overrides the description's choice: one CTA of `threads` threads per row.
  void as_function(OperatorLaunch& launch, const std::string& function, uint32_t threads) const {
    launch.settings.insert(launch.settings.end(), {"function=" + function, "block.x=" + std::to_string(threads), "block.y=1",
                                                   "grid.x=" + std::to_string(row_.rows)});
  }

  Mapped<void> norm() {
    const bool layer = row_.op == RowOperator::kLayerNorm;
    const bool residual = row_.op == RowOperator::kResidualRmsNorm;
    if (row_.megatron && row_.pass != RowPass::kForward) return megatron();
    if (row_.pass != RowPass::kBackward) {
      if (auto added = norm_forward(layer, residual); !added) return added;
    }
    return row_.pass == RowPass::kForward ? Mapped<void>{} : norm_backward(layer);
  }

  Mapped<void> norm_forward(bool layer, bool residual) {
    constexpr uint64_t kLigerHolds = 32768;
    const std::string name = layer ? "layer_norm" : "rms_norm";
    if (row_.maker == RowMaker::kLiger && row_.columns > kLigerHolds)
      return not_mapped("Triton holds 64 elements a thread, more than there are registers for: its spills are not known");
    if (layer && row_.columns > 16384) return not_mapped("no LayerNorm of rows of " + std::to_string(row_.columns));
    if (residual && row_.columns > 16384 && row_.maker != RowMaker::kQuack)
      return not_mapped("no residual RMSNorm of rows this long");
    if (row_.maker == RowMaker::kCudnn && row_.columns > kCudnnColumns)
      return not_mapped("cuDNN's kernel of rows this long is not known");
    if (residual && !row_.unfused) {
      add_clustered("residual_rms_norm", 4);
      return {};
    }
    if (residual) {
      add_pass("residual", 3);
      add("bias", 2);  // another multiplication of the rows by the weight
    }
    OperatorLaunch& launch = add_clustered(name, 2);
    const bool pytorch = row_.maker == RowMaker::kPyTorch || row_.maker == RowMaker::kMegatron;
    const bool liger =
        row_.maker == RowMaker::kLiger && row_.columns <= 1024 && !(row_.columns <= kBlockRowColumns && row_.rows >= kBlockRowRows);
    if (pytorch && element_ == 2) as_function(launch, name + "_vectors_of_4", 128);
    if (layer || element_ == 4) return {};
    // Triton's persistent rows as Liger launches them (calculate_settings): a CTA of four warps for up to 1024 columns.
    if (liger) as_function(launch, "rms_norm_bf16_128x1", 128);
    // Reductions over more than 1024 columns are loops, as Inductor's are.
    if (row_.maker == RowMaker::kHelion && row_.columns > 1024) as_function(launch, "rms_norm_two_pass_bf16_512", 512);
    return {};
  }

  // CTAs that loop over the rows; for short rows, their warps do. Liger: one per SM. Quack: rmsnorm_config.py, get_sm_count.
  // assumed: cuDNN as Quack on Blackwell.
  uint64_t workers() const {
    if (row_.maker == RowMaker::kLiger) return gpu_.sm_count();
    return gpu_.sm_count() * (row_.columns <= 256 ? 16 : row_.columns <= 1024 ? 8 : row_.columns <= 2048 ? 4 : 2);
  }

  // Sums over all rows: several CTAs per SM each sum a part of them, and a second launch adds up the parts.
  void add_column_sums(double matrices, uint64_t rows, bool fp32) {
    constexpr uint64_t kBytes = 512, kCtasAnSm = 4, kRows = 64;  // per CTA: columns in bytes; kRows: least rows of a part
    const uint64_t across = (row_.columns * (fp32 ? 4 : element_) + kBytes - 1) / kBytes;
    const uint64_t parts = std::max<uint64_t>(1, std::min(rows / kRows, (gpu_.sm_count() * kCtasAnSm + across - 1) / across));
    OperatorLaunch& launch = add("column_sums", matrices, rows, row_.columns);
    if (fp32) launch.name = "column_sums_fp32";
    launch.settings.push_back(sizes("parts", parts));
  }

  // Liger, Quack and cuDNN accumulate the weights' gradients while they loop over the rows. PyTorch and Inductor read both matrices
  // again for them.
  Mapped<void> norm_backward(bool layer) {
    if (row_.maker == RowMaker::kPyTorch && !layer && element_ == 2) {
      add("rms_norm_backward_input", 3);
      add("rms_norm_backward_weight", 2);
      return {};
    }
    if (row_.maker == RowMaker::kPyTorch || row_.maker == RowMaker::kCompiled) {
      add("softmax_backward", 3);
      add_column_sums(1, row_.rows, false);
      add_column_sums(1, row_.rows, false);
      return {};
    }
    const uint64_t parts = row_.maker == RowMaker::kQuack ? (row_.columns + 8191) / 8192 : 1;
    OperatorLaunch& launch = add(layer ? "layer_norm_backward" : "rms_norm_backward", 3, row_.rows * parts, row_.columns / parts);
    launch.settings.push_back(sizes("ctas", workers()));
    add_column_sums(0, workers(), true);
    return {};
  }

  // The script's backward pass also includes the forward pass, a sum of the result and a gradient of ones. "full" also adds to a
  // gradient.
  Mapped<void> megatron() {
    if (auto added = norm_forward(false, false); !added) return added;
    add("row_sums", 1);
    call_.bytes += matrix_;
    add_pass("scale", 1);  // the ones, which are only written: half the bytes of a scale
    call_.launches.back().settings = {sizes("elements", row_.rows * row_.columns / 2)};
    OperatorRow inner = row_;
    if (inner.maker == RowMaker::kMegatron) inner.maker = RowMaker::kPyTorch;
    std::swap(row_, inner);
    auto added = norm_backward(false);
    std::swap(row_, inner);
    if (added && row_.pass == RowPass::kFull) add_pass("residual", 3);
    return added;
  }

  Mapped<void> softmax() {
    if (row_.pass == RowPass::kFull) return not_mapped("no pass of softmax forward and backward");
    if (row_.pass == RowPass::kBackward) {
      add_clustered("softmax_backward", 3);
      return {};
    }
    if (row_.maker == RowMaker::kCompiled && row_.columns > 1024)
      return not_mapped("Inductor's softmax of this type was not measured");
    if (row_.maker == RowMaker::kLiger && row_.columns > 32768)
      return not_mapped("Triton holds 64 elements a thread, more than there are registers for: its spills are not known");
    add_clustered("softmax", 2);
    return {};
  }

  // Liger's forward pass overwrites the logits by the gradient; its backward pass multiplies the gradient once more.
  Mapped<void> cross_entropy() {
    if (row_.pass == RowPass::kBackward) {
      add("cross_entropy_backward", 2);
      return {};
    }
    if (row_.maker == RowMaker::kLiger) {
      add("cross_entropy_in_place", 3);
      if (row_.pass == RowPass::kFull) add_pass("scale", 2);
      return {};
    }
    if (row_.pass == RowPass::kFull) return not_mapped("no pass of cross-entropy forward and backward");
    if (row_.maker == RowMaker::kCompiled && row_.columns > 1024)
      return not_mapped("Inductor's cross-entropy of this type was not measured");
    add_clustered("cross_entropy", 1);
    return {};
  }

  // One CTA per row, by Liger's calculate_settings. A thread moves at least four bytes, although Triton's shortest rows have two.
  void add_row_pass(configs::ElementwiseOperation operation, double matrices) {
    uint64_t threads = row_.columns >= 32768 ? 1024 : row_.columns >= 8192 ? 512 : row_.columns >= 2048 ? 256 : 128;
    threads = std::min(threads, row_.columns * element_ / 4);
    const uint64_t bytes = row_.columns * element_ / threads;
    call_.bytes += matrices * matrix_;
    configs::Elementwise& pass = call_.launches.emplace_back().pass.emplace();
    pass.set_operation(operation);
    pass.set_elements(row_.rows * row_.columns);
    pass.set_element_bytes(static_cast<uint32_t>(element_));
    pass.set_threads_per_cta(static_cast<uint32_t>(threads));
    pass.set_access_bytes(static_cast<uint32_t>(std::min<uint64_t>(bytes, 16)));
    pass.set_accesses_per_thread(static_cast<uint32_t>(std::clamp<uint64_t>(bytes / 16, 1, 8)));
  }

  // PyTorch launches a kernel per operation. The backward pass of square(relu(x)) takes: power, twice, product, threshold.
  Mapped<void> relu_squared() {
    if (row_.maker == RowMaker::kLiger) {
      if (!std::has_single_bit(row_.columns)) return not_mapped("Triton masks rows that are no power of two");
      if (row_.pass != RowPass::kBackward) add_row_pass(configs::SCALE, 2);
      if (row_.pass != RowPass::kForward) add_row_pass(configs::ADD, 3);
      return {};
    }
    if (row_.pass != RowPass::kBackward) {
      add_pass("relu", 2);
      add_pass("relu_squared", 2);
    }
    if (row_.pass == RowPass::kForward) return {};
    add_pass("scale", 2);
    add_pass("scale", 2);
    add_pass("residual", 3);
    add_pass("relu_backward", 3);
    return {};
  }

  Mapped<void> cast_fp8() {
    if (row_.columns % 128 != 0 || row_.rows % 128 != 0) return not_mapped("no whole blocks of 128");
    add(row_.transposed ? "cast_fp8_blocks_transposed" : "cast_fp8_blocks", 1.5);
    return {};
  }

  OperatorRow row_;
  const configs::Gpu& gpu_;
  uint64_t element_;
  double matrix_;
  OperatorCall call_;
};

}  // namespace

Mapped<OperatorCall> operator_call(const OperatorRow& row, const configs::Gpu& gpu) {
  Call call(row, gpu);
  if (!was_profiled(row)) return call.make();
  auto profiled = torch_call(row, gpu);
  if (profiled && call.rate_bytes() > 0) profiled->rate_bytes = call.rate_bytes();
  return profiled;
}

}  // namespace warpfold::validation
