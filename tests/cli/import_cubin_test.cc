// A cubin is disassembled by the user's nvdisasm: here a script that prints a listing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/cli/program.h"

namespace warpfold::cli {
namespace {

using testing::HasSubstr;

class Cubins : public Program {
 protected:
  void SetUp() override {
    write("k.cubin",
          "\x7f"
          "ELF\x02\x01\x01");
    write("k.launch", "architecture: \"sm_80\" grid { x: 2 } block { x: 32 }\n");
    path_ = std::getenv("PATH");
  }
  void TearDown() override { setenv("PATH", path_.c_str(), 1); }

  // Whose last line is `last`.
  void install(const std::string& last) {
    std::filesystem::create_directory(path("work/bin"));
    write("bin/nvdisasm", "#!/bin/sh\nprintf 'Function : k\\n/*0000*/ NOP ;\\n'\n" + last + "\n");
    std::filesystem::permissions(path("work/bin/nvdisasm"), std::filesystem::perms::owner_all);
    setenv("PATH", (path("work/bin") + ":" + path_).c_str(), 1);
  }

  std::string path_;
};

TEST_F(Cubins, AreDisassembled) {
  install("printf '/*0010*/ EXIT ;\\n'");
  const Ended imported = run({"import", "k.cubin", "--launch", "k.launch"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("k, sm_80: 2 CTAs of 1 warps"));
}

TEST_F(Cubins, HaveTheCommandInTheirMessages) {
  install("printf '/*0010*/ EXYT ;\\n'");
  EXPECT_THAT(refused({"import", "k.cubin", "--launch", "k.launch"}),
              testing::StartsWith("nvdisasm -hex k.cubin:3:1: unknown opcode \"EXYT\" of sm_80"));
}

TEST_F(Cubins, ThatNvdisasmRefusesHaveItsWords) {
  install("echo 'nvdisasm fatal: no code' >&2; exit 1");
  EXPECT_EQ(refused({"import", "k.cubin", "--launch", "k.launch"}), "k.cubin:1:1: nvdisasm fails: nvdisasm fatal: no code\n");
}

TEST_F(Cubins, WithoutNvdisasmAreSaidWhatToRun) {
  std::filesystem::create_directory(path("work/empty"));
  setenv("PATH", path("work/empty").c_str(), 1);
  EXPECT_THAT(refused({"import", "k.cubin", "--launch", "k.launch"}),
              testing::AllOf(HasSubstr("k.cubin:1:1: this is a binary, no listing; disassemble it (the PATH has no nvdisasm)"),
                             HasSubstr("nvdisasm -hex FILE > kernel.sass")));
}

}  // namespace
}  // namespace warpfold::cli
