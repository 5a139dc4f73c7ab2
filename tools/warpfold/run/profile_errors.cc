#include "tools/warpfold/run/profile_errors.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include "tools/warpfold/figures/validation_figures.h"
#include "tools/warpfold/run/profile_families.h"
#include "tools/warpfold/run/profile_run.h"

namespace warpfold::cli {
namespace {

namespace fs = std::filesystem;

// The errors and rows of several profiles.
class ProfileValidation {
 public:
  explicit ProfileValidation(const ProfileValidationRequest& request) : request_(request) {
    validation_.set_version(WARPFOLD_VERSION);
    validation_.set_command_line(request.command_line);
  }

  void add(const std::string& file, const ProfiledStep& step) {
    validation_.add_data(file);
    const std::string& gpu = step.report.gpu();
    if (gpu.find(request_.only_gpu) == std::string::npos && step.report.traced_gpu().find(request_.only_gpu) == std::string::npos)
      return;
    std::map<std::pair<uint32_t, bool>, std::pair<uint64_t, double>> rows;  // number of launches and their time, by kernel and
                                                                            // length
    for_each_launch(step, [&](uint32_t kernel, double us, bool comparable) {
      const configs::ProfiledKernel& said = step.report.kernels(static_cast<int>(kernel));
      if (!comparable || !wanted(said)) return;
      const bool judged = us >= kJudgedUs;
      auto& [launches, sum] = rows[{kernel, judged}];
      ++launches;
      sum += us;
      const double error = said.simulated_us() / us - 1;
      errors_[{!judged, "", ""}].push_back(error);
      errors_[{!judged, family_of(said), gpu}].push_back(error);
    });
    for (uint32_t kernel = 0; kernel < static_cast<uint32_t>(step.report.kernels_size()); ++kernel) {
      if (!wanted(step.report.kernels(static_cast<int>(kernel)))) continue;
      ++kernels_;
      bool compared = false;
      for (const bool judged : {true, false}) {
        const auto row = rows.find({kernel, judged});
        if (row == rows.end()) continue;
        add_row(file, step, kernel, judged, row->second.first, row->second.second);
        compared = true;
      }
      if (!compared) add_unmapped(file, step, kernel);
    }
    validation_.set_simulations(validation_.simulations() +
                                static_cast<uint32_t>(std::ranges::count_if(
                                    step.report.kernels(), [](const auto& kernel) { return kernel.simulated_us() > 0; })));
  }

  bool empty() const { return kernels_ == 0; }

  configs::Validation take() {
    for (const auto& [key, errors] : errors_) {
      const auto& [shorter, kernel, gpu] = key;
      add_group(length_of(!shorter), kernel, gpu, errors, validation_);
    }
    return std::move(validation_);
  }

 private:
  static std::string length_of(bool judged) {
    const std::string limit = std::to_string(static_cast<int>(kJudgedUs)) + " us";
    return judged ? "launches of " + limit + " or more" : "launches of less than " + limit;
  }
  static std::string id_of(const std::string& file, uint32_t kernel) {
    return fs::path(file).filename().string() + "#" + std::to_string(kernel + 1);
  }

  bool wanted(const configs::ProfiledKernel& kernel) const {
    return kernel.name().find(request_.only_kernel) != std::string::npos ||
           family_of(kernel).find(request_.only_kernel) != std::string::npos;
  }

  void add_row(const std::string& file, const ProfiledStep& step, uint32_t kernel, bool judged, uint64_t launches, double us) {
    const configs::ProfiledKernel& said = step.report.kernels(static_cast<int>(kernel));
    const configs::SimulatedPoint& point = step.points[kernel];
    configs::ValidatedRow& row = *validation_.add_rows();
    row.set_id(id_of(file, kernel));
    row.set_file(file);
    row.set_family(length_of(judged));
    row.set_kernel(family_of(said));
    row.set_gpu(step.report.gpu());
    row.set_implementation(said.short_name());
    row.set_shape(said.reads_as());
    row.set_source(file);
    row.set_quantity("time_us");
    row.set_measured(us / static_cast<double>(launches));
    row.set_simulated(said.simulated_us());
    row.set_error(row.simulated() / row.measured() - 1);
    row.set_limiter(point.limiter());
    row.set_limiter_utilization(point.limiter_utilization());
    row.set_tensor_utilization(point.tensor_utilization());
    row.set_fold(point.fold());
    *row.mutable_warnings() = point.warnings();
    row.set_judged(true);
    row.set_launches(launches);
    validation_.set_launches(validation_.launches() + launches);
  }

  void add_unmapped(const std::string& file, const ProfiledStep& step, uint32_t kernel) {
    const configs::ProfiledKernel& said = step.report.kernels(static_cast<int>(kernel));
    configs::UnmappedRow& row = *validation_.add_unmapped();
    row.set_id(id_of(file, kernel));
    row.set_file(file);
    const std::string family = said.family().empty() ? "" : said.family() + ": ";
    row.set_reason(said.opaque().empty() ? "every launch overlaps another kernel or has no time" : family + said.opaque());
  }

  const ProfileValidationRequest& request_;
  configs::Validation validation_{};
  std::map<std::tuple<bool, std::string, std::string>, std::vector<double>> errors_{};  // key: shorter than kJudgedUs, kernel, GPU;
                                                                                        // so long launches come first
  uint64_t kernels_ = 0;
};

}  // namespace

Outcome<configs::Validation> run_profile_validation(const ProfileValidationRequest& request) {
  ProfileValidation validation(request);
  for (const std::string& file : request.files) {
    ProfileRequest each;
    each.trace = file;
    each.only_traced = true;
    each.kernels = request.kernels;
    each.resume = request.resume;
    each.command_line = request.command_line;
    each.how = request.how;
    const auto step = run_profile(each);
    if (!step) return std::unexpected(step.error());
    validation.add(file, *step);
  }
  if (validation.empty()) return user_error("no kernel matches --gpu and --kernel");
  return validation.take();
}

}  // namespace warpfold::cli
