#pragma once

#include <map>
#include <string>
#include <vector>

#include "configs/gpu.pb.h"
#include "tools/validation/comparison.h"
#include "tools/validation/kernels_of_row.h"
#include "tools/validation/measured_row.h"

namespace warpfold::validation {

// Makes scenarios from rows. A row's kernel is the one that its source states (column `set`); if the source is silent, the rules in
// kernels_of_row.h apply. The clock is the GPU file's, unless the row states a clock that was read beside it (clock_mhz, or a
// phrase). Facts about a run that phrases state (row_facts.h) are followed if the run supports them; the comparison's `unfollowed`
// lists the other phrases.
class RowMapper {
 public:
  // `gpus`: the folder of GPU files. `settings`: PATH=VALUE of the GPU ("gpu.clock_mhz=1830"), for every row.
  RowMapper(std::string gpus, std::vector<std::string> settings) : gpus_(std::move(gpus)), settings_(std::move(settings)) {}

  // Maps a row. A mistake: the row's `set`, `over_set` or `scenario`, a GPU file or a setting is wrong.
  Mapped<Comparison> map(const MeasuredRow& row);
  // Maps a row without a scenario of its own, on `gpu`.
  Mapped<Comparison> map(const MeasuredRow& row, const configs::Gpu& gpu);
  // Completes a comparison whose single run was made from the row elsewhere, by the row's clock and figure.
  Mapped<Comparison> map_run(const MeasuredRow& row, Comparison comparison) const;
  // Returns the GPU that the row names. Not mapped if no file describes it.
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
