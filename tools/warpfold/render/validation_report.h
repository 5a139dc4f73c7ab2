#pragma once

#include <string>

#include "configs/validation.pb.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

// Errors by group, the rows that are farthest off and what was not mapped, as tables for people; everything as JSON; or a CSV row
// for each measured row, those without a simulation with the reason.
std::string render_validation(const configs::Validation& validation, Format format);

// The same for a document: every group, every row, and what was not mapped, as Markdown.
std::string validation_markdown(const configs::Validation& validation);

// A gnuplot program that draws simulated over measured times into `picture`, one mark for each family; empty
// where no time was simulated.
std::string validation_plot(const configs::Validation& validation, const std::string& picture);

}  // namespace warpfold::cli
