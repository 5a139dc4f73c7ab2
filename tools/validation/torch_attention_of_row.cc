#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "configs/load.h"
#include "tools/validation/operator_rows.h"

namespace warpfold::validation {
namespace {

class TorchAttention {
 public:
  TorchAttention(const configs::AttentionShape& shape, const configs::Gpu& gpu, std::string folder)
      : shape_(shape), gpu_(gpu), folder_(std::move(folder)) {}

  Mapped<void> forward() {
    for (int tensor = 0; tensor < 3; ++tensor) copy(1);
    if (auto added = product(shape_.queries(), shape_.queries(), shape_.head_dim()); !added) return added;
    if (shape_.causal()) {  // the mask, in L2, is added by a pass over the scores
      pass(configs::SCALE, scores());
    }
    if (auto added = rows("torch_softmax"); !added) return added;
    return product(shape_.queries(), shape_.head_dim(), shape_.queries());
  }

  Mapped<void> backward() {
    copy(1);
    if (auto added = product(shape_.queries(), shape_.head_dim(), shape_.queries()); !added) return added;
    if (auto added = product(shape_.queries(), shape_.queries(), shape_.head_dim()); !added) return added;
    if (auto added = rows("torch_multiply"); !added) return added;
    constexpr uint64_t kKnown = 1024;  // columns of PyTorch's own kernel, as measured
    if (auto added = rows(shape_.queries() == kKnown ? "torch_softmax_backward" : "softmax_backward"); !added) return added;
    for (int gradient = 0; gradient < 2; ++gradient) {
      if (auto added = product(shape_.queries(), shape_.head_dim(), shape_.queries()); !added) return added;
    }
    for (int gradient = 0; gradient < 3; ++gradient) copy(1);
    copy(3);  // the gradients of q, k and v in one tensor
    return {};
  }

  std::vector<configs::Kernel> take() { return std::move(kernels_); }

 private:
  uint64_t heads() const { return shape_.batch() * shape_.heads(); }
  uint64_t scores() const { return heads() * shape_.queries() * shape_.queries(); }

  void copy(uint64_t tensors) { pass(configs::COPY, tensors * heads() * shape_.queries() * shape_.head_dim()); }

  void pass(configs::ElementwiseOperation operation, uint64_t elements) {
    configs::Kernel& kernel = kernels_.emplace_back();
    kernel.set_name("pass");
    kernel.mutable_elementwise()->set_operation(operation);
    kernel.mutable_elementwise()->set_elements(elements);
    kernel.mutable_elementwise()->set_element_bytes(2);
  }

  // An operator over the rows of the scores. Its listing is of BF16, which moves as many bytes as FP16.
  Mapped<void> rows(const std::string& name) {
    const auto sized = [](const char* parameter, uint64_t value) {
      return "parameter." + std::string(parameter) + ".value=" + std::to_string(value);
    };
    std::vector<std::string> settings{sized("rows", heads() * shape_.queries()), sized("columns", shape_.queries())};
    if (name == "torch_multiply") settings = {sized("elements", scores())};
    auto kernel = operator_kernel({name, std::move(settings)}, folder_);
    if (!kernel) return std::unexpected(kernel.error());
    kernels_.push_back(*std::move(kernel));
    return {};
  }

  Mapped<void> product(uint64_t m, uint64_t n, uint64_t k) {
    const bool batched = gpu_.architecture() == "sm_90";
    constexpr uint32_t kLeastDepth = 128;  // of the recorded loops of mma.sync with four stages
    if (!batched && shape_.head_dim() < kLeastDepth)
      return not_mapped("products of head_dim " + std::to_string(shape_.head_dim()) +
                        " need a shallower loop of mma.sync than known");
    std::map<std::string, CsvCell, std::less<>> cells;
    const auto put = [&](const std::string& column, std::string value) { cells[column] = {std::move(value), 0, 0}; };
    put("id", "product");
    put("category", "GEMM");
    put("gpu", gpu_.name());
    put("impl", "torch.mm");
    put("dtype", shape_.type() == configs::BF16 ? "bf16" : "fp16");
    put("M", std::to_string(batched ? m : heads() * m));
    put("N", std::to_string(n));
    put("K", std::to_string(k));
    if (batched) put("batch", std::to_string(heads()));
    put("time_ms", "1");
    const auto made = gemm_of_row(MeasuredRow("product", 0, std::move(cells)), gpu_);
    if (!made) return std::unexpected(made.error());
    kernels_.push_back(made->kernels.front());
    return {};
  }

  const configs::AttentionShape& shape_;
  const configs::Gpu& gpu_;
  std::string folder_;
  std::vector<configs::Kernel> kernels_{};
};

}  // namespace

bool by_torch(const MeasuredRow& row) { return row.text("impl") == "PyTorch eager" || row.text("impl") == "standard (PyTorch)"; }

Mapped<RowWork> torch_attention_of_row(const MeasuredRow& row, const configs::Gpu& gpu, const std::string& folder) {
  const auto shape = square_attention_of_row(row);
  if (!shape) return std::unexpected(shape.error());
  if (shape->has_keys()) return not_mapped("attention by PyTorch with more keys than queries is not known");
  if (row.number("dropout").value_or(0) > 0) return not_mapped("attention by PyTorch with dropout is not known");
  const std::string& kernel = row.text("kernel");
  const bool both = kernel == "attention fwd+bwd";
  const bool forward = both || kernel == "attention fwd", backward = both || kernel == "attention bwd";
  if (!forward && !backward) return not_mapped("expected attention fwd, attention bwd or attention fwd+bwd");
  TorchAttention call(*shape, gpu, folder);
  if (forward) {
    if (auto made = call.forward(); !made) return std::unexpected(made.error());
  }
  if (backward) {
    if (auto made = call.backward(); !made) return std::unexpected(made.error());
  }
  RowWork work;
  work.family = both ? "attention forward and backward" : forward ? "attention forward" : "attention backward";
  work.kernel = std::string("PyTorch") + (shape->causal() ? ", causal" : "");
  work.shape = row.text("dtype") + " " + std::to_string(shape->batch()) + "x" + std::to_string(shape->heads()) + "x" +
               std::to_string(shape->queries()) + "x" + std::to_string(shape->head_dim()) + (shape->causal() ? " causal" : "");
  work.kernels = call.take();
  work.launches = true;
  const auto queries = static_cast<double>(shape->queries());
  const double products = both ? 3.5 : forward ? 1 : 2.5;
  work.work = 4 * queries * queries * shape->head_dim() * static_cast<double>(shape->heads()) *
              static_cast<double>(shape->batch()) * products * (shape->causal() ? 0.5 : 1);
  work.rate_unit = "TFLOPS";
  return work;
}

}  // namespace warpfold::validation
