#pragma once

#include <string>
#include <vector>

#include "configs/result.pb.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

// Returns tables of a run's energy by resource and kernel, and of the power of its phases. Empty if the clock is fixed.
std::string power_tables(const configs::Result& result);

// Columns of the power of several runs in one table, for people and for files, and the cells of a run.
std::vector<std::string> power_columns();
std::vector<Cell> power_cells(const configs::Result& result);
std::vector<std::string> power_csv_columns();
std::vector<Cell> power_csv_cells(const configs::Result& result);

// Returns a line that names the run with the least energy, by its name in the comparison. Empty if the clock is fixed.
std::string least_energy_line(const configs::Comparison& comparison, const std::vector<std::string>& names);

}  // namespace warpfold::cli
