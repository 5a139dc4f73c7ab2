#include <filesystem>
#include <utility>

#include "configs/load.h"
#include "tools/validation/kernels_of_row.h"

namespace warpfold::validation {

namespace fs = std::filesystem;

Mapped<RowWork> kernel_file_of_row(const MeasuredRow& row) {
  const std::string& file = row.text("kernel_file");
  const fs::path folder = fs::path(row.file()).parent_path();
  if (!fs::is_regular_file(folder / file)) return mistaken(row.problem("kernel_file", "no file " + (folder / file).string()));
  RowWork work;
  work.family = "kernel file";
  work.kernel = row.text("kernel").empty() ? fs::path(file).stem().string() : row.text("kernel");
  work.shape = row.text("set");
  configs::Kernel& kernel = work.kernels.emplace_back();
  kernel.set_name("kernel");
  if (fs::path(file).extension() != ".sass") {
    kernel.mutable_trace()->set_path(file);
    return work;
  }
  if (row.text("launch").empty())
    return mistaken(row.problem("kernel_file", "a listing needs a launch description: column launch"));
  auto launch = configs::load_kernel_launch((folder / row.text("launch")).string(), {});
  if (!launch) return mistaken(row.problem("launch", launch.error().text()));
  work.work = static_cast<double>(launch->flops());
  work.rate_unit = "TFLOPS";
  kernel.mutable_listing()->set_path(file);
  *kernel.mutable_listing()->mutable_description() = *std::move(launch);
  return work;
}

}  // namespace warpfold::validation
