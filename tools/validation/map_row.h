#pragma once

#include <map>
#include <string>
#include <vector>

#include "configs/gpu.pb.h"
#include "tools/validation/comparison.h"
#include "tools/validation/kernels_of_row.h"
#include "tools/validation/measured_row.h"

namespace warpfold::validation {

// Makes scenarios of rows. A row's kernel is what its source says (column `set`) and, where that is silent, the rule that
// kernels_of_row.h states; its clock is the GPU file's unless the row has one that was read beside it (clock_mhz), or a phrase says
// one. Facts about a run that phrases state (row_facts.h) are followed where the run can; `unfollowed` of the comparison has the
// phrases of the others.
class RowMapper {
 public:
  // `gpus`: the folder of GPU files. `settings`: PATH=VALUE of the GPU ("gpu.clock_mhz=1830"), for every row.
  RowMapper(std::string gpus, std::vector<std::string> settings) : gpus_(std::move(gpus)), settings_(std::move(settings)) {}

  // A mistake: the row's `set`, `over_set` or `scenario`, a GPU file or a setting is wrong.
  Mapped<Comparison> map(const MeasuredRow& row);
  // The same of a row without a scenario of its own, on `gpu`.
  Mapped<Comparison> map(const MeasuredRow& row, const configs::Gpu& gpu);
  // The same of a comparison whose one run was made of the row elsewhere: the row's clock and its figure are still missing.
  Mapped<Comparison> map_run(const MeasuredRow& row, Comparison comparison) const;
  // The GPU that the row names. Not mapped: there is no file for it.
  Mapped<configs::Gpu> gpu_of(const MeasuredRow& row);

 private:
  Mapped<Comparison> map_kernels(const MeasuredRow& row, const configs::Gpu& gpu);
  Mapped<Comparison> map_scenario(const MeasuredRow& row);
  Mapped<Comparison> map_pair(const MeasuredRow& row, const configs::Gpu& gpu);
  Mapped<Run> run_of(const MeasuredRow& row, const configs::Gpu& gpu, const RowWork& work, const configs::Kernel& kernel,
                     const std::vector<std::string>& columns, FollowedFacts& follows) const;
  Mapped<void> apply_settings(const MeasuredRow& row, configs::Scenario& scenario, FollowedFacts& follows) const;
  Mapped<Run> load(const MeasuredRow& row, const std::string& scenario_column, const std::vector<std::string>& columns,
                   FollowedFacts& follows) const;
  std::string gpu_path(const std::string& name) const;

  std::string gpus_;
  std::vector<std::string> settings_;
  std::map<std::string, configs::Gpu> known_;  // by file
};

}  // namespace warpfold::validation
