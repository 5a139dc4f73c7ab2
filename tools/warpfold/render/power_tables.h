#pragma once

#include <string>
#include <vector>

#include "configs/result.pb.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

// Where a run's energy goes, resource by kernel, and what its phases take; empty where the clock is fixed.
std::string power_tables(const configs::Result& result);

// Columns of the power of runs beside each other, for people and for files, and their cells.
std::vector<std::string> power_columns();
std::vector<Cell> power_cells(const configs::Result& result);
std::vector<std::string> power_csv_columns();
std::vector<Cell> power_csv_cells(const configs::Result& result);

// Which of the runs takes least energy, by the names that they have in the comparison; empty where the clock is fixed.
std::string least_energy_line(const configs::Comparison& comparison, const std::vector<std::string>& names);

}  // namespace warpfold::cli
