#include "tools/warpfold/render/warning_lines.h"

namespace warpfold::cli {

std::string warning_lines(const configs::Result& result) {
  std::string lines;
  for (const std::string& warning : result.warnings()) lines += warning + "\n";
  return lines;
}

std::string warning_lines(const configs::Comparison& comparison) {
  std::string lines;
  for (const configs::Result& result : comparison.results()) {
    for (const std::string& warning : result.warnings()) lines += result.policy() + ": " + warning + "\n";
  }
  return lines;
}

std::string warning_lines(const configs::Validation& validation) {
  std::string lines;
  for (const configs::ValidatedRow& row : validation.rows()) {
    for (const std::string& warning : row.warnings()) lines += row.id() + ": " + warning + "\n";
  }
  return lines;
}

std::string warning_lines(const configs::Study& study, const PointRecords& records) {
  std::string first;
  int warnings = 0;
  for (const auto& [point, record] : records) {
    for (const configs::StudyRun& run : record.run()) {
      warnings += run.warnings_size();
      if (first.empty() && run.warnings_size() > 0) first = point_name(study, point) + ", " + run.policy() + ": " + run.warnings(0);
    }
  }
  if (warnings == 0) return "";
  return first +
         (warnings > 1 ? " " + std::to_string(warnings - 1) + (warnings == 2 ? " further warning." : " further warnings.") : "") +
         "\n";
}

}  // namespace warpfold::cli
