#pragma once

#include <string>

#include "tools/knobs/sweep.h"

namespace warpfold::knobs {

// docs/knobs.md. `model`: the commit whose model was swept, "abc1234 of 2026-11-27".
std::string page_of(const Sweep& sweep, const std::string& model);

// The anomalies and the inert fields as text for a terminal.
std::string lists_of(const Sweep& sweep);

// Whether every anomaly and every inert field has a reason on the page.
bool is_explained(const Sweep& sweep);

}  // namespace warpfold::knobs
