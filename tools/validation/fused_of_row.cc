#include <algorithm>
#include <array>
#include <string_view>

#include "configs/escape/quoted.h"
#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {

namespace {

// A kernel of HFuse's trace, and the kernel of side_by_side.cu that does the same work. Endings of the measured names: _0, _11 and
// _1x run side by side, with their barriers in different orders; _100 runs one after the other in the same threads.
struct Fused {
  std::string_view measured;
  std::string_view ours;
};
constexpr std::array kFused{
    Fused{"im2col_kernel", "im2col_alone"},
    Fused{"MaxPoolForward", "max_pool_alone"},
    Fused{"upsample_bilinear2d_out_frame", "upsample_alone"},
    Fused{"batch_norm_collect_statistics_kernel", "batch_norm_alone"},
    Fused{"kernelHistogram1D", "histogram_alone"},
    Fused{"im2col_kernel_MaxPoolForward_0", "im2col_max_pool_beside"},
    Fused{"im2col_kernel_MaxPoolForward_100", "im2col_max_pool_behind"},
    Fused{"im2col_kernel_upsample_bilinear2d_out_frame_0", "im2col_upsample_beside"},
    Fused{"im2col_kernel_upsample_bilinear2d_out_frame_100", "im2col_upsample_behind"},
    Fused{"im2col_kernel_batch_norm_collect_statistics_kernel_0", "im2col_batch_norm_beside"},
    Fused{"im2col_kernel_batch_norm_collect_statistics_kernel_100", "im2col_batch_norm_behind"},
    Fused{"MaxPoolForward_batch_norm_collect_statistics_kernel_0", "max_pool_batch_norm_beside"},
    Fused{"MaxPoolForward_batch_norm_collect_statistics_kernel_100", "max_pool_batch_norm_behind"},
    Fused{"upsample_bilinear2d_out_frame_batch_norm_collect_statistics_kernel_0", "upsample_batch_norm_beside"},
    Fused{"upsample_bilinear2d_out_frame_batch_norm_collect_statistics_kernel_100", "upsample_batch_norm_behind"},
    Fused{"MaxPoolForward_upsample_bilinear2d_out_frame_100", "max_pool_upsample_behind"},
    Fused{"im2col_kernel_kernelHistogram1D_0", "im2col_histogram_beside_count"},
    Fused{"im2col_kernel_kernelHistogram1D_1x", "im2col_histogram_beside_clear"},
    Fused{"im2col_kernel_kernelHistogram1D_100", "im2col_histogram_behind"},
    Fused{"kernelHistogram1D_MaxPoolForward_11", "histogram_max_pool_beside_count"},
    Fused{"kernelHistogram1D_MaxPoolForward_0", "histogram_max_pool_beside_add"},
    Fused{"kernelHistogram1D_MaxPoolForward_100", "histogram_max_pool_behind"},
    Fused{"kernelHistogram1D_upsample_bilinear2d_out_frame_11", "histogram_upsample_beside_count"},
    Fused{"kernelHistogram1D_upsample_bilinear2d_out_frame_0", "histogram_upsample_beside_add"},
    Fused{"kernelHistogram1D_upsample_bilinear2d_out_frame_100", "histogram_upsample_behind"},
    Fused{"kernelHistogram1D_batch_norm_collect_statistics_kernel_11", "histogram_batch_norm_beside_count"},
    Fused{"kernelHistogram1D_batch_norm_collect_statistics_kernel_0", "histogram_batch_norm_beside_add"},
    Fused{"kernelHistogram1D_batch_norm_collect_statistics_kernel_100", "histogram_batch_norm_behind"},
};

}  // namespace

Mapped<RowPair> fused_of_row(const MeasuredRow& row, const configs::Gpu& gpu) {
  const std::string& name = row.text("kernel");
  if (gpu.architecture() != "sm_70") return not_mapped("HFuse's kernels are of a V100");
  if (name == "max_pool_upsample_kernel")
    return not_mapped("this kernel of HFuse computes two thirds of the pixels that it is compared with");
  const auto* const fused = std::ranges::find(kFused, name, &Fused::measured);
  if (fused == kFused.end()) return not_mapped("no kernel of HFuse's " + escape::quoted(name) + " is written here");
  const bool capped = row.text("impl").find("(reg cap)") != std::string::npos;
  RowPair pair{.kernel = "fused kernels",
               .shape = std::string(fused->ours) + (capped ? ", capped" : ""),
               .runs = {},
               .clock_mhz = 0,
               .follows = {"grid", "block", "registers", "shared memory"}};
  configs::Kernel& kernel = *pair.runs.emplace_back().add_kernel();
  kernel.set_name("kernel");
  kernel.mutable_trace()->set_path("../kernels/side_by_side/" + std::string(fused->ours) + (capped ? "_32" : "") + ".wft");
  return pair;
}

}  // namespace warpfold::validation
