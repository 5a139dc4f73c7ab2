#include "tools/warpfold/run/study_subject.h"

#include "configs/escape/quoted.h"

namespace warpfold::cli {

std::string key_of_program(const std::string& program, const RunOptions& how) {
  const sim::FoldOptions& fold = how.folding.options;
  return program + " fold " + std::to_string(static_cast<int>(fold.mode)) + " " + std::to_string(fold.error) + " " +
         std::to_string(fold.sampling_delay) + (how.folding.shadow ? " shadow" : "") +
         (how.folding.self_check ? " self-check" : "") + (how.reference ? " reference" : "") + (how.all_sms ? " all SMs" : "");
}

std::unexpected<Failure> changed_since(const configs::Study& study, const Point& point) {
  return user_error("study " + escape::unquoted(study.name()) + " at " + point_name(study, point) +
                    ": its inputs, a file that they name, or the program changed since the study began; start it in a new folder");
}

configs::StudyPoint failed_point(const Failure& failure) {
  configs::StudyPoint failed;
  failed.set_failure(failure.text);
  failed.set_exit_code(failure.exit_code);
  return failed;
}

}  // namespace warpfold::cli
