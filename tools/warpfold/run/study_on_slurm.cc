#include "tools/warpfold/run/study_on_slurm.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/escape/text_format.h"
#include "configs/read_file.h"
#include "sim/engine/interrupt.h"
#include "tools/warpfold/figures/study_wanted.h"
#include "tools/warpfold/render/output.h"
#include "tools/warpfold/run/interrupt.h"
#include "tools/warpfold/run/limits.h"
#include "tools/warpfold/run/options.h"
#include "tools/warpfold/run/progress.h"
#include "tools/warpfold/run/study_run.h"

namespace warpfold::cli {

namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using std::chrono::steady_clock;

std::string slurm_folder(const StudyRequest& request) { return request.folder + "/slurm"; }

// Writes the script that all tasks of a plan run.
Outcome<std::string> write_script(const StudyRequest& request, const StudyArray& how, const std::string& plan) {
  if (auto made = make_folder(slurm_folder(request)); !made) return std::unexpected(made.error());
  std::string line = "exec " + shell_word(how.program);
  for (const std::string& argument : how.arguments) line += " " + shell_word(argument);
  const std::string path = slurm_folder(request) + "/" + plan + ".sh";
  const std::string text =
      "#!/bin/sh\n# A task of: " + escape::comment(request.command_line) + "\n" + line + " --worker " + plan + "\n";
  if (auto written = write_output(path, text); !written) return std::unexpected(written.error());
  return path;
}

Outcome<std::string> submit_plan(const StudyRequest& request, StudyArray& how, const std::string& plan, size_t missing) {
  const auto script = write_script(request, how, plan);
  if (!script) return script;
  SlurmArray array = how.array;
  array.script = *script;
  array.logs = slurm_folder(request);
  array.tasks = static_cast<unsigned>(std::min<size_t>(array.tasks, missing));
  auto job = submit(array);
  if (!job) return job;
  if (auto noted = write_output(slurm_folder(request) + "/job", *job + "\n"); !noted) return std::unexpected(noted.error());
  return job;
}

// Waits until all points are recorded. Looks at the shared folder each second; asks the controller less often, since it serves a
// whole cluster.
Outcome<void> await(const StudyRequest& request, StudyArray& how, const std::string& plan, std::string job) {
  constexpr seconds kBetweenLooks{1};
  constexpr seconds kBetweenQuestions{10};
  auto state = state_of_study(request, plan);
  if (!state) return std::unexpected(state.error());
  size_t at_submission = state->done;
  ProgressBar bar(request.study.name() + ", job " + job, state->points);
  bar.set(state->done);
  const auto look_on = [&]() -> Outcome<void> {
    const Interruptible interruptible;
    auto asked = steady_clock::now();
    while (true) {
      state = state_of_study(request, plan);
      if (!state) return std::unexpected(state.error());
      bar.set(state->done);
      if (state->done == state->points) return {};
      const bool ask = steady_clock::now() - asked >= kBetweenQuestions;
      if (ask) asked = steady_clock::now();
      if (ask && state_of_job(job) == JobState::kEnded) {
        state = state_of_study(request, plan);
        if (!state) return std::unexpected(state.error());
        if (state->done == state->points) continue;
        const std::string count = std::to_string(state->done) + " of " + std::to_string(state->points) + " points";
        if (state->done == at_submission) {
          return user_error("job " + job + " has ended with " + count + ", as many as before it; see " + slurm_folder(request) +
                            "/" + job + "_*.log");
        }
        at_submission = state->done;
        auto next = submit_plan(request, how, plan, state->points - state->done);
        if (!next) return std::unexpected(next.error());
        bar.log("job " + job + " has ended with " + count + "; job " + *next + " takes the others");
        job = *next;
      }
      sim::stop_if_wanted();
      std::this_thread::sleep_for(kBetweenLooks);
      sim::stop_if_wanted();
    }
  };
  return unless_stopped(look_on, [&] {
    return "job " + job +
           " goes on without this command. The same command with --collect in place of --slurm draws finished points; "
           "scancel " +
           job + " ends the job";
  });
}

}  // namespace

Outcome<std::string> submit_study(const StudyRequest& request, StudyArray how) {
  const bool rounds = adapts(request.study);
  for (bool first = true;; first = false) {
    const auto plan = plan_study(request);
    if (!plan) return plan;
    if (plan->empty()) return first && !how.wait ? "all points are finished: no job is submitted\n" : "";
    const auto state = state_of_study(request, *plan);
    if (!state) return std::unexpected(state.error());
    const size_t missing = state->points - state->done;
    const auto job = submit_plan(request, how, *plan, missing);
    if (!job) return job;
    if (!how.wait) {
      const std::string line = "job " + *job + ": " + std::to_string(std::min<size_t>(how.array.tasks, missing)) + " tasks for " +
                               std::to_string(missing);
      if (rounds) return line + " points of this round; the same command submits the next round once they are finished\n";
      return line + " points; the same command with --collect in place of --slurm draws them once they are finished\n";
    }
    if (auto awaited = await(request, how, *plan, *job); !awaited) return std::unexpected(awaited.error());
    if (!rounds) return "";
  }
}

std::string last_job(const StudyRequest& request) {
  const auto text = read_file(slurm_folder(request) + "/job");
  if (!text) return "";
  const std::string job = noted_job(*text);
  if (job.empty()) return "";
  switch (state_of_job(job)) {
    case JobState::kQueued:
      return "job " + job + " is still running";
    case JobState::kEnded:
      return "job " + job + " has ended: --slurm submits the missing points";
    case JobState::kUnknown:
      break;
  }
  return "Slurm's controller does not know job " + job;
}

}  // namespace warpfold::cli
