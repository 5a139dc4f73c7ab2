#include "tools/warpfold/render/html.h"

#include "tools/report/page.h"
#include "tools/warpfold/render/json.h"
#include "tools/warpfold/render/output.h"

namespace warpfold::cli {

Outcome<void> write_html(const std::string& path, const configs::Report& report) {
  std::string title = "Simulations compared with measurements";
  if (report.has_profile()) {
    title = report.profile().trace() + " on " + report.profile().gpu();
  } else if (report.has_layer()) {
    title = report.layer().model().name() + " on " + report.layer().gpu();
  } else if (!report.has_validation()) {
    title = report.run(0).result().scenario() + " on " + report.run(0).result().gpu();
  }
  return write_output(path, report::html_page(title.append(": Warpfold report"), to_json(report)));
}

}  // namespace warpfold::cli
