#include "configs/write_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace warpfold {
namespace {

namespace fs = std::filesystem;

class WriteFile : public testing::Test {
 protected:
  WriteFile() {
    std::string name = (fs::temp_directory_path() / "warpfold-write-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~WriteFile() override { fs::remove_all(folder_); }
  WriteFile(const WriteFile&) = delete;
  WriteFile& operator=(const WriteFile&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name), std::ios::binary).rdbuf();
    return text.str();
  }
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator())); }

 private:
  fs::path folder_;
};

TEST_F(WriteFile, TakesThePlaceOfTheOldOneAndItsMode) {
  ASSERT_TRUE(write_file(path("a"), "first"));
  fs::permissions(path("a"), fs::perms(0640));
  ASSERT_TRUE(write_file(path("a"), "second"));
  EXPECT_EQ(read("a"), "second");
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms(0640));
  EXPECT_EQ(files(), 1);
}

TEST_F(WriteFile, GoesBehindALink) {
  ASSERT_TRUE(write_file(path("file"), "old"));
  fs::create_symlink("file", path("link"));
  ASSERT_TRUE(write_file(path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read("file"), "new");
}

TEST_F(WriteFile, HasNoNameBeforeItIsWhole) {
  ASSERT_TRUE(write_file(path("a"), "old"));
  {
    FileWriter file(path("a"));
    file.write(std::string(1U << 20U, 'x'));
    EXPECT_EQ(files(), 1) << "the file system of temporary files has no O_TMPFILE";
    EXPECT_EQ(read("a"), "old");
  }
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(read("a"), "old");
}

TEST_F(WriteFile, HasANameAsLongAsNamesMayBe) {
  const std::string longest(255, 'n');
  ASSERT_TRUE(write_file(path(longest), "text"));
  EXPECT_EQ(read(longest), "text");
}

TEST_F(WriteFile, IsWrittenAsItIsWhereItIsADevice) {
  EXPECT_TRUE(write_file("/dev/null", "text"));
  const auto full = write_file("/dev/full", "text");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().text(), "cannot write \"/dev/full\": No space left on device");
}

TEST_F(WriteFile, SaysWhyItCannotBe) {
  EXPECT_EQ(write_file(path("none/a"), "").error().text(), "cannot write \"" + path("none/a") + "\": No such file or directory");
  fs::create_directory(path("folder"));
  EXPECT_EQ(write_file(path("folder"), "").error().text(), "cannot write \"" + path("folder") + "\": it is a directory");
}

TEST_F(WriteFile, BeyondTheLimitLeavesTheOldOne) {
  ASSERT_TRUE(write_file(path("a"), "old"));
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &usual), 0);
  const auto usual_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit little{.rlim_cur = 100, .rlim_max = usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
  const auto written = write_file(path("a"), std::string(101, 'x'));
  setrlimit(RLIMIT_FSIZE, &usual);
  std::signal(SIGXFSZ, usual_handler);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().text(), testing::EndsWith("File too large"));
  EXPECT_EQ(read("a"), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(WriteFile, OfManyThreadsIsThatOfOneOfThem) {
  std::vector<std::thread> threads;
  for (char letter = 'a'; letter < 'i'; ++letter) {
    threads.emplace_back([&, letter] {
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(write_file(path("shared"), std::string(10000, letter), FileWriter::Sync::kNo));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(read("shared"), std::string(10000, read("shared").front()));
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace warpfold
