// The output of Slurm's commands, tested without Slurm.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/warpfold/run/slurm.h"

namespace warpfold::cli {
namespace {

TEST(SlurmAnswer, TheLastLineOfSbatchIsTheJob) {
  EXPECT_EQ(job_of({0, "4711"}).value(), "4711");
  EXPECT_EQ(job_of({0, "sbatch: warning: nodes are down\n4711;cluster"}).value(), "4711");
}

TEST(SlurmAnswer, WhatSbatchSaysOfAFailureIsOneLine) {
  EXPECT_EQ(job_of({127, "sh: 1: sbatch: not found"}).error().text,
            "--slurm: sbatch is not installed here: sh: 1: sbatch: not found");
  EXPECT_EQ(job_of({1, "sbatch: error: a\nsbatch: \x1b[31merror"}).error().text,
            "--slurm: sbatch: error: a; sbatch: \\x1b[31merror");
  EXPECT_EQ(job_of({1, ""}).error().text, "--slurm: sbatch failed");
  EXPECT_EQ(job_of({0, "Submitted batch job 7"}).error().text, "--slurm: sbatch gave no job number, but \"Submitted batch job 7\"");
  EXPECT_LT(job_of({1, std::string(100'000, 'a')}).error().text.size(), 500U);
}

TEST(SlurmAnswer, AJobWithoutALineHasEnded) {
  EXPECT_EQ(state_of({0, ""}), JobState::kEnded);
  EXPECT_EQ(state_of({0, "PENDING\nRUNNING"}), JobState::kQueued);
  EXPECT_EQ(state_of({1, "slurm_load_jobs error: Invalid job id specified"}), JobState::kEnded);
  EXPECT_EQ(state_of({1, "slurm_load_jobs error: Unable to contact slurm controller"}), JobState::kUnknown);
}

TEST(SlurmAnswer, ANoteHoldsANumberAlone) {
  EXPECT_EQ(noted_job("4711\n"), "4711");
  EXPECT_EQ(noted_job("4711\nelse"), "4711");
  for (const std::string note : {"", "\n4711", "47x", "\x1b[31m", "123456789012345678901"}) EXPECT_EQ(noted_job(note), "");
}

}  // namespace
}  // namespace warpfold::cli
