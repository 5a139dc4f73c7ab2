// The output of Slurm's commands, and a study's note of its job. The answers of sbatch and squeue each follow a line with the exit
// code. libFuzzer's entry.

#include <charconv>

#include "configs/escape/visible.h"
#include "tests/fuzz/input.h"
#include "tools/warpfold/run/slurm.h"

namespace {

using namespace warpfold;

constexpr size_t kMostMessage = 600;

cli::SlurmAnswer answer_of(std::string_view text) {
  cli::SlurmAnswer answer;
  const size_t end = text.find('\n');
  std::from_chars(text.data(), text.data() + std::min(end, text.size()), answer.exit_code);
  if (end != std::string_view::npos) answer.text = text.substr(end + 1);
  while (answer.text.ends_with('\n')) answer.text.pop_back();
  return answer;
}

bool is_number(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parts = fuzz::parts_of(fuzz::text_of(data, size), 3);

  const cli::SlurmAnswer sbatch = answer_of(parts[0]);
  const auto job = cli::job_of(sbatch);
  if (job) {
    fuzz::require(sbatch.exit_code == 0 && is_number(*job), "a job without a number");
  } else {
    fuzz::require(job.error().exit_code == cli::kUserError && job.error().text.size() > 9, "refused without a message");
    fuzz::require(escape::why_unprintable(job.error().text).empty(), "a message that the terminal obeys");
    fuzz::require(job.error().text.size() <= kMostMessage * 4, "a message without end");
  }

  const cli::SlurmAnswer squeue = answer_of(parts[1]);
  if (cli::state_of(squeue) == cli::JobState::kQueued) {
    fuzz::require(squeue.exit_code == 0 && !squeue.text.empty(), "a job is queued of which Slurm says nothing");
  }

  const std::string noted = cli::noted_job(parts[2]);
  fuzz::require(noted.empty() || is_number(noted), "a noted job without a number");
  return 0;
}
