#include "tools/warpfold/run/slurm.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <memory>

#include "configs/escape/quoted.h"
#include "configs/escape/visible.h"
#include "tools/warpfold/run/options.h"

namespace warpfold::cli {

namespace {

constexpr size_t kMostSaid = 400;   // characters of an error message of Slurm: two of its lines
constexpr size_t kMostDigits = 20;  // of 64 bits; job numbers of Slurm 23 have 31

bool is_job(std::string_view text) {
  return !text.empty() && text.size() <= kMostDigits && text.find_first_not_of("0123456789") == std::string_view::npos;
}

SlurmAnswer ask_shell(const std::string& line) {
  SlurmAnswer said;
  FILE* pipe = popen((line + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {127, "no process can be started"};
  std::array<char, 4096> piece{};
  while (const size_t read = fread(piece.data(), 1, piece.size(), pipe)) said.text.append(piece.data(), read);
  const int status = pclose(pipe);
  said.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  while (said.text.ends_with('\n')) said.text.pop_back();
  return said;
}

// Joins the lines of sbatch's reasons, since a diagnostic is one line.
std::string in_one_line(std::string text) {
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at)) text.replace(at, 1, "; ");
  return text;
}

}  // namespace

std::string sbatch_line(const SlurmArray& array) {
  std::vector<std::string> words{"sbatch",
                                 "--parsable",
                                 "--job-name=" + array.name,
                                 "--array=0-" + std::to_string(array.tasks - 1),
                                 "--cpus-per-task=" + std::to_string(array.cpus),
                                 "--requeue",
                                 "--open-mode=append",
                                 "--output=" + array.logs + "/%A_%a.log"};
  if (!array.partition.empty()) words.push_back("--partition=" + array.partition);
  if (!array.time.empty()) words.push_back("--time=" + array.time);
  words.insert(words.end(), array.more.begin(), array.more.end());
  words.push_back(array.script);
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

Outcome<std::string> submit(const SlurmArray& array) { return job_of(ask_shell(sbatch_line(array))); }

JobState state_of_job(const std::string& job) {
  return state_of(
      ask_shell("squeue --noheader --states=PENDING,RUNNING,SUSPENDED,COMPLETING,CONFIGURING,REQUEUED --format=%T --jobs=" +
                shell_word(job)));
}

Outcome<std::string> job_of(const SlurmAnswer& sbatch) {
  const std::string said = escape::visible(in_one_line(sbatch.text), kMostSaid);
  if (sbatch.exit_code == 127) return user_error("--slurm: sbatch is not installed here: " + said);
  if (sbatch.exit_code != 0) return user_error("--slurm: " + (said.empty() ? "sbatch failed" : said));
  std::string job = sbatch.text.substr(sbatch.text.rfind('\n') + 1);
  job = job.substr(0, job.find(';'));
  if (!is_job(job)) return user_error("--slurm: sbatch gave no job number, but " + escape::quoted(sbatch.text));
  return job;
}

JobState state_of(const SlurmAnswer& squeue) {
  if (squeue.exit_code == 0) return squeue.text.empty() ? JobState::kEnded : JobState::kQueued;
  return squeue.text.find("Invalid job id") != std::string::npos ? JobState::kEnded : JobState::kUnknown;
}

std::string noted_job(std::string_view file) {
  const std::string_view job = file.substr(0, file.find('\n'));
  return is_job(job) ? std::string(job) : "";
}

}  // namespace warpfold::cli
