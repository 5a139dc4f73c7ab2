// Limits of a command's resources: --time-limit, --memory-limit, sizes of files, grids and tiles.

#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "program.h"
#include "tests/source_dir.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/available_memory.h"
#include "tools/warpfold/run/sanitized.h"

namespace warpfold::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Limits : public Program {
 protected:
  // CTAs that differ, so many that no machine replays them in a minute.
  static std::vector<std::string> endless() {
    return {"simulate", WARPFOLD_SOURCE_DIR "/configs/scenarios/row_sums_philox.textproto",
            "--set",    "kernel.sums.listing.description.parameter.rows.value=1728",
            "--set",    "kernel.sums.listing.description.grid.z=4096"};
  }
  static std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // Ends a study, all of whose points take more than a minute on any machine, by a time limit that leaves some complete.
  Ended ended_amid_points(const std::vector<std::string>& study) {
    Ended ended;
    for (const std::string seconds : {"4", "16", "60"}) {
      ended = run(with(study, {"--time-limit", seconds + "s"}));
      EXPECT_EQ(ended.exit_code, kLimit);
      EXPECT_THAT(ended.err, HasSubstr("time limit of " + seconds + " s reached (--time-limit): "));
      if (ended.err.find("no result is kept") == std::string::npos) break;
    }
    return ended;
  }
};

TEST_F(Limits, OfTimeEndsACommandWithItsOwnExitCode) {
  const auto start = std::chrono::steady_clock::now();
  const Ended ended = run(with(endless(), {"--time-limit", "1"}));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(kSanitized ? 60 : 20));
  EXPECT_EQ(ended.exit_code, kLimit);
  EXPECT_THAT(ended.err, StartsWith("time limit of 1 s reached (--time-limit): no result is kept"));
  EXPECT_EQ(ended.out, "");
}

// 2^40 passes of a loop before an mbarrier that no warp completes.
TEST_F(Limits, OfTimeEndAReplayThatFoldingWouldNotNeed) {
  std::string kernel = stuck_kernel();
  const std::string wait = "    [B------:R-:W0:-:S02] SYNCS";
  kernel.insert(kernel.find(wait), "    loop 1099511627776\n      [B------:R-:W-:-:S02] IADD3 R2, R2, R3, RZ ;\n    end\n");
  write("stuck.wfs", kernel);
  write("s.textproto", "gpu_file: \"" WARPFOLD_SOURCE_DIR
                       "/configs/gpus/h100_sxm.textproto\"\n"
                       "kernel { name: \"k\" trace { path: \"stuck.wfs\" } }\n");
  const Ended folded = run({"simulate", "s.textproto"});
  EXPECT_EQ(folded.exit_code, kDeadlock);
  EXPECT_THAT(folded.err, HasSubstr("k CTA 0 waiter warp 0 (sub-core 0): short_scoreboard since cycle 2199023255552"));
  for (const std::vector<std::string>& how : {std::vector<std::string>{"--fold", "off"}, {"--sms", "all"}}) {
    const Ended replayed = run(with({"simulate", "s.textproto", "--time-limit", "1"}, how));
    EXPECT_EQ(replayed.exit_code, kLimit);
    EXPECT_THAT(replayed.err, StartsWith("time limit of 1 s reached (--time-limit): no result is kept")) << how[1];
  }
}

TEST_F(Limits, OfMemoryEndsACommandWithItsOwnExitCode) {
  if (kSanitized) GTEST_SKIP() << "sanitizers reserve terabytes";
  write("s.textproto", small_scenario());
  const Ended ended = run({"simulate", "s.textproto", "--memory-limit=9M", "--output", "result.json"});
  EXPECT_EQ(ended.exit_code, kLimit);
  EXPECT_EQ(ended.err, "memory limit of 9 MiB reached (--memory-limit): no result is kept\n");
  EXPECT_THAT(files(), testing::ElementsAre("s.textproto"));
  EXPECT_EQ(run({"simulate", "s.textproto", "--memory-limit", "1g"}).exit_code, kSuccess);
}

TEST_F(Limits, OfTimeKeepThePointsOfAStudy) {
  write("s.textproto", small_scenario());
  const std::vector<std::string> study = {"study", "s.textproto", "--axis", "heads=8..1600", "--fold", "off", "--output", "out"};
  const Ended ended = ended_amid_points(study);
  EXPECT_THAT(ended.err, HasSubstr("of 1593 points are kept in out/points; the same command goes on from there"));
}

// A task of Slurm's that is ended early leaves its points to the next one, and says so in its log.
TEST_F(Limits, OfTimeKeepThePointsOfATask) {
  write("s.textproto", small_scenario());
  write("sbatch", "#!/bin/sh\necho 7\n");
  std::filesystem::permissions(path("work/sbatch"), std::filesystem::perms::owner_all);
  const std::string before = std::getenv("PATH");
  setenv("PATH", (std::filesystem::path(path("work/sbatch")).parent_path().string() + ":" + before).c_str(), 1);
  const std::vector<std::string> study = {"study", "s.textproto", "--axis", "heads=8..1600", "--fold", "off", "--output", "out"};
  EXPECT_EQ(run(with(study, {"--slurm"})).exit_code, kSuccess);
  setenv("PATH", before.c_str(), 1);
  std::string plan;
  for (const auto& entry : std::filesystem::directory_iterator(path("work/out/slurm"))) {
    if (entry.path().extension() == ".sh") plan = entry.path().stem().string();
  }
  const Ended ended = ended_amid_points(with(study, {"--worker", plan}));
  EXPECT_THAT(ended.err, HasSubstr("of 1593 points are kept in out/points; another task goes on from there"));
}

TEST_F(Limits, AreQuantities) {
  EXPECT_EQ(refused({"list", "--time-limit", "0"}), "--time-limit takes a time such as 90, 10m or 2h, not \"0\"\n");
  EXPECT_EQ(refused({"list", "--time-limit", "5 parsecs"}), "--time-limit takes a time such as 90, 10m or 2h, not \"5 parsecs\"\n");
  EXPECT_EQ(refused({"list", "--time-limit", "nan"}), "--time-limit takes a time such as 90, 10m or 2h, not \"nan\"\n");
  EXPECT_EQ(refused({"list", "--memory-limit=-1G"}), "--memory-limit takes a size such as 500M or 2G, not \"-1G\"\n");
  EXPECT_EQ(refused({"list", "--memory-limit", "1e30"}), "--memory-limit takes a size such as 500M or 2G, not \"1e30\"\n");
  EXPECT_EQ(refused({"list", "--memory-limit"}), "the required argument for option '--memory-limit' is missing\n");
}

TEST_F(Limits, OfFilesAndSizes) {
  EXPECT_EQ(refused({"check", "/dev/zero"}), "cannot read \"/dev/zero\": it is larger than 64 MiB\n");
  write("g.textproto", "gpu_file: \"" WARPFOLD_SOURCE_DIR
                       "/configs/gpus/h100_sxm.textproto\"\n"
                       "kernel { name: \"g\" hopper_gemm {\n"
                       "  m: 1048576 n: 1048576 k: 8388608 type: BF16 tile_m: 128 tile_n: 128 tile_k: 64 schedule: COOPERATIVE "
                       "persistent: true } }\n");
  EXPECT_EQ(refused({"check", "g.textproto"}), "g.textproto:2:20: more than 1152921504606846976 products\n");
  EXPECT_THAT(refused({"check", "g.textproto", "--set", "kernel.g.hopper_gemm.k=1024", "--set", "kernel.g.hopper_gemm.tile_n=8"}),
              HasSubstr("hopper_gemm: more than 67108864 clusters of tiles: 4096 x 131072"));
  write("s.textproto", small_scenario());
  EXPECT_THAT(refused({"study", "s.textproto", "--axis", "heads=1..100000", "--axis", "policy=CONCURRENT,SEQUENTIAL", "--axis",
                       "kernel.rng.philox.rounds=3,5,7,10", "--axis", "kernel.rng.philox.queries=1..100"}),
              HasSubstr("more than 1000000 points"));
}

// Files of a machine with 8 GiB available, in a group of 2 GiB inside one of 1 GiB of which 256 MiB are used.
TEST_F(Limits, AvailableMemoryIsTheLeastOfMachineAndGroups) {
  namespace fs = std::filesystem;
  const fs::path root = path("root");
  const auto file = [&](const std::string& name, const std::string& text) {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
  };
  EXPECT_FALSE(available_memory(root));
  file("proc/meminfo", "MemTotal: 16777216 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\n");
  EXPECT_EQ(available_memory(root), uint64_t{8} << 30U);
  file("proc/self/cgroup", "0::/job/step\n");
  file("sys/fs/cgroup/job/step/memory.max", "2147483648\n");
  file("sys/fs/cgroup/job/step/memory.current", "0\n");
  EXPECT_EQ(available_memory(root), uint64_t{2} << 30U);
  file("sys/fs/cgroup/job/memory.max", "1073741824\n");
  file("sys/fs/cgroup/job/memory.current", "268435456\n");
  EXPECT_EQ(available_memory(root), uint64_t{768} << 20U);
  file("sys/fs/cgroup/job/memory.stat", "anon 1048576\nfile 234881024\nactive_file 67108864\ninactive_file 134217728\n");
  EXPECT_EQ(available_memory(root), uint64_t{960} << 20U);  // 192 MiB are cache
  file("sys/fs/cgroup/job/memory.max", "max\n");
  EXPECT_EQ(available_memory(root), uint64_t{2} << 30U);
  file("proc/self/cgroup", "9:cpu,memory:/task\n1:name=systemd:/\n");
  file("sys/fs/cgroup/memory/task/memory.limit_in_bytes", "1000\n");
  file("sys/fs/cgroup/memory/task/memory.usage_in_bytes", "3000\n");
  EXPECT_EQ(available_memory(root), 0U);
  file("sys/fs/cgroup/memory/task/memory.stat", "inactive_file 2900\ntotal_inactive_file 2500\ntotal_active_file 100\n");
  EXPECT_EQ(available_memory(root), 600U);
}

}  // namespace
}  // namespace warpfold::cli
