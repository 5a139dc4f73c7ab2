#pragma once

#include <string>

#include "configs/validation.pb.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

// Renders a validation. For people: tables of errors by group, of the rows with the largest errors, and of unmapped rows. JSON has
// everything. CSV has a row for each measured row, with the reason if the row has no simulation.
std::string render_validation(const configs::Validation& validation, Format format);

// Returns the same as a Markdown document, with every group, every row and all unmapped rows.
std::string validation_markdown(const configs::Validation& validation);

// Returns a gnuplot program that draws simulated over measured times into `picture`, with one mark for each family. Empty if no
// time was simulated.
std::string validation_plot(const configs::Validation& validation, const std::string& picture);

}  // namespace warpfold::cli
