#pragma once

#include <string>

#include "tools/knobs/sweep.h"

namespace warpfold::knobs {

// Returns the text of docs/knobs.md. `model`: the commit whose model was swept, for example "abc1234 of 2026-11-27".
std::string page_of(const Sweep& sweep, const std::string& model);

// Returns the anomalies and the inert fields as text for a terminal.
std::string lists_of(const Sweep& sweep);

// True if the page has a reason for every anomaly and every inert field.
bool is_explained(const Sweep& sweep);

}  // namespace warpfold::knobs
