#pragma once

#include "tools/report/saved_result.h"
#include "tools/warpfold/render/html.h"
#include "tools/warpfold/run/options.h"

namespace warpfold::cli {

// Writes the page of a result to the file that --html names, if the option is given.
template <typename T>
Outcome<void> write_html_option(const Options& options, const T& result) {
  return options.has("html") ? write_html(options.text("html"), report::report_of(result)) : Outcome<void>();
}

}  // namespace warpfold::cli
