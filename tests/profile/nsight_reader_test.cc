// Profiles of Nsight Systems and Nsight Compute: the values read from them, and one message with its position for each damaged
// profile.

#include "tools/profile/nsight_reader.h"

#include <gmock/gmock.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tools/profile/profile_reader.h"

namespace warpfold::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kSystems =
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput "
    "(MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n";
const std::string kLaunch =
    "5000,75000,102,64,2,1,128,1,1,32,0.001,0.213,,,,,NVIDIA H100 80GB HBM3 (1),1,,7,\"void f<(int)4, (bool)1, (unsigned "
    "long)3>(char *, T2)\"\n";
const std::string kCopy =
    "1000,1500,101,,,,,,,,,,4.194,12000.000,Pageable,Device,NVIDIA H100 80GB HBM3 (1),1,,7,[CUDA memcpy Host-to-Device]\n";

std::string error_of(const std::string& text) {
  const auto profile = read_nsight_table("t.csv", text);
  return profile ? "" : profile.error().text();
}

TEST(NsightSystemsTable, ReadsLaunchesAndCopiesBehindMessages) {
  const std::string text = "Generating SQLite file\n\n" + kSystems + kCopy + kLaunch;
  EXPECT_TRUE(is_nsight_table(text));
  const auto profile = read_nsight_table("t.csv", text);
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->gpu, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(profile->device, 1);
  EXPECT_FALSE(profile->one_at_a_time);
  ASSERT_EQ(profile->launches.size(), 2);
  EXPECT_EQ(profile->launches[0].shape, Launch::kCopy);
  EXPECT_EQ(profile->launches[1].start_us, 5);
  EXPECT_EQ(profile->launches[1].us, 75);
  EXPECT_EQ(profile->launches[1].stream, 7);
  ASSERT_EQ(profile->shapes.size(), 1);
  const LaunchShape& shape = profile->shapes.front();
  EXPECT_EQ(shape.name, "void f<4, true, 3>(char*, T2)");
  EXPECT_THAT(shape.grid, ElementsAre(64, 2, 1));
  EXPECT_EQ(shape.threads(), 128);
  EXPECT_EQ(shape.registers_per_thread, 32);
  EXPECT_EQ(shape.shared_memory_bytes, 214000);
}

TEST(NsightSystemsTable, OtherUnits) {
  std::string text = kSystems + kLaunch;
  text.replace(text.find("Duration (ns)"), 13, "Duration (us)");
  const auto profile = read_nsight_table("t.csv", text);
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->launches[0].us, 75000);
}

TEST(NsightSystemsTable, OneMessageForWhatIsWrong) {
  EXPECT_THAT(error_of(kSystems), HasSubstr("t.csv: no kernel in the table"));
  EXPECT_THAT(error_of("a,b\n"), HasSubstr("no header of Nsight Systems' or Nsight Compute's tables"));
  std::string text = "\n" + kSystems + kLaunch;
  text.replace(text.find("75000"), 5, "75x00");
  EXPECT_THAT(error_of(text), StartsWith("t.csv:3:6: expected a number, not \"75x00\""));
  text = kSystems + kLaunch;
  text.replace(text.find("(ns),CorrId"), 4, "(d)");
  EXPECT_THAT(error_of(text), StartsWith("t.csv:2:6: a number in the unknown unit \"d\""));
  text = kSystems + kLaunch;
  text.replace(text.find("BlkY"), 4, "BlkQ");
  EXPECT_THAT(error_of(text), StartsWith("t.csv:1:1: no column \"BlkY\""));
  text = kSystems + kLaunch;
  text.replace(text.find("NVIDIA H100 80GB HBM3 (1)"), 25, "NVIDIA");
  EXPECT_THAT(error_of(text), HasSubstr("expected a GPU with its number"));
  text = kSystems + kLaunch;
  text.resize(text.size() - 3);
  EXPECT_THAT(error_of(text), HasSubstr("this quote is not closed"));
  text = kSystems + kLaunch;
  text.resize(text.find(",\"void"));
  EXPECT_THAT(error_of(text), HasSubstr("20 cells, the header has 21"));
}

const std::string kRaw =
    "==PROF== Connected to process 7\n"
    R"x("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",)x"
    R"x("gpu__time_duration.sum","launch__registers_per_thread","launch__shared_mem_per_block_dynamic")x"
    "\n"
    R"x("","","","","","","","","","","","us","register/thread","Kbyte/block")x"
    "\n";

TEST(NsightComputeTable, RawPage) {
  const auto profile = read_nsight_table(
      "t.csv", kRaw + R"x("0","7","a.out","host","f(int)","1","7","(256, 1, 1)","(132, 2, 1)","0","9.0","1,012.5","64","16.38")x"
                      "\n"
                      R"x("1","7","a.out","host","g<(int)4>(int)","1","7","(32, 1, 1)","(1, 1, 1)","0","9.0","2.5","16","0")x"
                      "\n");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_TRUE(profile->one_at_a_time);
  ASSERT_EQ(profile->launches.size(), 2);
  EXPECT_EQ(profile->launches[0].us, 1012.5);
  EXPECT_EQ(profile->launches[1].start_us, 1012.5);
  EXPECT_THAT(profile->shapes[0].grid, ElementsAre(132, 2, 1));
  EXPECT_EQ(profile->shapes[0].shared_memory_bytes, 16380);
  EXPECT_EQ(profile->shapes[1].name, "g<4>(int)");
}

TEST(NsightComputeTable, DetailsPage) {
  const std::string header =
      R"x("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",)x"
      R"x("Section Name","Metric Name","Metric Unit","Metric Value")x"
      "\n";
  const auto row = [](const std::string& id, const std::string& metric, const std::string& unit, const std::string& value) {
    return "\"" + id + R"x(","7","a.out","host","f(int)","1","7","(256, 1, 1)","(132, 1, 1)","0","9.0","Launch Statistics",")x" +
           metric + R"x(",")x" + unit + R"x(",")x" + value + "\"\n";
  };
  const auto profile =
      read_nsight_table("t.csv", header + row("0", "Duration", "usecond", "12") + row("0", "Registers Per Thread", "", "40") +
                                     row("1", "Threads", "thread", "1") + row("1", "Duration", "msecond", "3"));
  ASSERT_TRUE(profile) << profile.error().text();
  ASSERT_EQ(profile->launches.size(), 2);
  EXPECT_EQ(profile->launches[0].us, 12);
  EXPECT_EQ(profile->launches[1].us, 3000);
  EXPECT_EQ(profile->shapes[0].registers_per_thread, 40);
  EXPECT_THAT(error_of(header + row("0", "Threads", "thread", "1")),
              StartsWith("t.csv:2:1: kernel \"f(int)\" has no duration (gpu__time_duration.sum)"));
}

TEST(NsightComputeTable, NeedsDurations) {
  std::string text = kRaw;
  text.replace(text.find("gpu__time_duration.sum"), 22, "gpu__cycles_elapsed.max");
  EXPECT_THAT(error_of(text), StartsWith("t.csv:2:1: no column \"gpu__time_duration.sum\"; collect it by ncu --set basic"));
}

// A database of these statements, in a file that goes with it.
class Export {
 public:
  explicit Export(const std::string& statements)
      : path_(std::filesystem::temp_directory_path() / ("nsight_" + std::to_string(getpid()) + ".sqlite")) {
    std::filesystem::remove(path_);
    sqlite3* database = nullptr;
    if (sqlite3_open(path_.c_str(), &database) != SQLITE_OK ||
        sqlite3_exec(database, statements.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
      throw std::runtime_error(sqlite3_errmsg(database));
    sqlite3_close(database);
  }
  ~Export() { std::filesystem::remove(path_); }
  Export(const Export&) = delete;
  Export& operator=(const Export&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

const std::string kKernels =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT,"
    " demangledName INT, shortName INT, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT,"
    " registersPerThread INT, staticSharedMemory INT, dynamicSharedMemory INT);"
    "INSERT INTO StringIds VALUES (1, 'f<(int)2>(int)'), (2, 'f'), (3, 'aten::mm, seq = 4, op_id = 9, sizes = [[8, 16], [], [16, "
    "4]]');"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (9000, 12000, 0, 1, 7, 55, 1, 2, 4, 2, 1, 128, 1, 1, 32, 1024, 2048);";
const std::string kRest =
    "CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT);"
    "INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100 80GB HBM3');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, streamId INT);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1000, 2000, 0, 7);"
    "CREATE TABLE NVTX_EVENTS (start INT, end INT, globalTid INT, text TEXT, textId INT);"
    "INSERT INTO NVTX_EVENTS VALUES (5000, 8000, 1, NULL, 3), (5000, 8000, 2, 'other', NULL), (1, NULL, 1, 'mark', NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (6000, 6500, 1, 55);";

TEST(NsightSystemsExport, ReadsLaunchesWithTheOperatorsOfRanges) {
  const Export file(kKernels + kRest);
  const auto profile = read_profile(file.path());
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->gpu, "NVIDIA H100 80GB HBM3");
  ASSERT_EQ(profile->launches.size(), 2);
  EXPECT_EQ(profile->launches[0].shape, Launch::kCopy);
  EXPECT_EQ(profile->launches[1].start_us, 9);
  EXPECT_EQ(profile->launches[1].us, 3);
  const LaunchShape& shape = profile->shapes.front();
  EXPECT_EQ(shape.name, "f<2>(int)");
  EXPECT_EQ(shape.shared_memory_bytes, 3072);
  EXPECT_EQ(shape.op.name, "aten::mm");
  EXPECT_THAT(shape.op.inputs, ElementsAre(ElementsAre(8, 16), ElementsAre(), ElementsAre(16, 4)));
  EXPECT_TRUE(profile->shapes_recorded);
  // An operator of emit_nvtx is no range of the user's. The call lies in a range of another thread.
  EXPECT_THAT(profile->ranges, ElementsAre("other"));
  EXPECT_THAT(profile->range_sets[profile->launches[1].ranges], ElementsAre(0));
  EXPECT_THAT(profile->range_sets[profile->launches[0].ranges], ElementsAre());
}

TEST(NsightSystemsExport, KernelsSuffice) {
  const Export file(kKernels);
  const auto profile = read_profile(file.path());
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->launches.size(), 1);
}

TEST(NsightSystemsExport, OneMessageForWhatIsWrong) {
  const auto error = [](const std::string& statements) {
    const Export file(statements);
    const auto profile = read_profile(file.path());
    return profile ? "" : profile.error().text();
  };
  EXPECT_THAT(error("CREATE TABLE StringIds (id INT, value TEXT);"), HasSubstr("no kernel in the export"));
  EXPECT_THAT(error("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT);"), HasSubstr("damaged SQLite export: no such table"));
  EXPECT_THAT(error("CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
                    "SELECT x AS start FROM n;"),
              HasSubstr("CUPTI_ACTIVITY_KIND_KERNEL is no table; export the report again"));
  EXPECT_THAT(error(kKernels + "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 1;"),
              HasSubstr("lacks a start or a duration from 0 to 1e16 us; export again"));
  const Export file(kKernels);
  std::filesystem::resize_file(file.path(), 5000);
  const auto cut = read_profile(file.path());
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().text(), HasSubstr("damaged SQLite export"));
}

TEST(Profiles, OfNoKindAreRefused) {
  const auto path = std::filesystem::temp_directory_path() / ("profile_" + std::to_string(getpid()) + ".txt");
  std::ofstream(path) << "hello\n";
  const auto profile = read_profile(path.string());
  std::filesystem::remove(path);
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().text(), HasSubstr("no profile that is known"));
}

}  // namespace
}  // namespace warpfold::profile
