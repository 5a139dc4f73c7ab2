#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>

#include "samples.h"
#include "traces/compression.h"
#include "traces/trace_encoding.h"
#include "traces/trace_file.h"

namespace warpfold::traces {
namespace {

using testing::AllOf;
using testing::HasSubstr;

size_t files_in(const TemporaryFolder& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

TEST(File, GivesBackTheKernels) {
  const TemporaryFolder folder;
  Kernel other = sample();
  other.name = "void other<\xff>()";
  other.roles[1].body.insert(other.roles[1].body.begin(), {Block{}, Block{}});
  const std::vector<Kernel> kernels{sample(), other};
  ASSERT_TRUE(write_trace(folder.file("two.wft"), kernels));
  const Expected<std::vector<Kernel>> back = read_trace(folder.file("two.wft"));
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(*back, kernels);
  EXPECT_EQ(files_in(folder), 1);
}

TEST(File, HasTheSameBytesEveryTime) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_trace(folder.file("a.wft"), {sample()}));
  ASSERT_TRUE(write_trace(folder.file("b.wft"), {sample()}));
  EXPECT_EQ(read_bytes(folder.file("a.wft")), read_bytes(folder.file("b.wft")));
}

TEST(File, StaysSmallWhateverTheTripCounts) {
  const TemporaryFolder folder;
  Kernel kernel = sample();
  kernel.cta_classes[0].values = {1000000, 1000000};
  ASSERT_TRUE(write_trace(folder.file("long.wft"), {kernel}));
  EXPECT_LT(read_bytes(folder.file("long.wft")).size(), 1500);
}

TEST(File, ReadsFromAPipe) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_trace(folder.file("a.wft"), {sample()}));
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  const std::string command = "cat '" + folder.file("a.wft") + "' > '" + folder.file("pipe") + "' &";
  ASSERT_EQ(system(command.c_str()), 0);
  const Expected<std::vector<Kernel>> back = read_trace(folder.file("pipe"));
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->at(0), sample());
}

TEST(File, RefusesToWriteNothing) {
  const TemporaryFolder folder;
  EXPECT_THAT(write_trace(folder.file("a.wft"), {}).error().message, HasSubstr("no kernels"));
}

TEST(File, RefusesToWriteInvalidKernelsAndKeepsTheOldFile) {
  const TemporaryFolder folder;
  write_bytes(folder.file("a.wft"), "old");
  Kernel kernel = sample();
  kernel.grid.clear();
  const Expected<void> written = write_trace(folder.file("a.wft"), {sample(), kernel});
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().text(), AllOf(HasSubstr("a.wft: "), HasSubstr("an empty grid")));
  EXPECT_EQ(read_bytes(folder.file("a.wft")), "old");
}

TEST(File, RefusesToMixArchitectures) {
  const std::string text = "kernel old architecture=sm_80\n class all\n grid all*1\n role a\n EXIT ;\n end\nend\n";
  const Expected<std::vector<Kernel>> ampere = parse_kernels("old.wfs", text);
  ASSERT_TRUE(ampere) << ampere.error().text();
  const Expected<void> written = write_trace("never_written.wft", {sample(), ampere->at(0)});
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("kernel old is for sm_80 and kernel sample for sm_90"));
}

TEST(File, ThrowsWhereAnInstructionContradictsItsText) {
  Kernel kernel = sample();
  isa::Instruction& first = std::get<Block>(kernel.roles[1].body[0]).code[0];
  first.operands[0].index = 5;
  EXPECT_THROW((void)encode_kernels("a.wft", {kernel}), std::logic_error);
}

TEST(File, FailureToWriteLeavesTheFolderAsItWas) {
  const TemporaryFolder folder;
  EXPECT_THAT(write_trace(folder.file("missing/a.wft"), {sample()}).error().text(),
              AllOf(HasSubstr("cannot write \""), HasSubstr("missing/a.wft\": No such file")));
  std::filesystem::create_directory(folder.file("occupied.wft"));
  EXPECT_THAT(write_trace(folder.file("occupied.wft"), {sample()}).error().message, HasSubstr("occupied.wft\": it is a directory"));
  EXPECT_EQ(files_in(folder), 1);
}

TEST(File, AFullDiskLeavesTheOldFile) {
  const TemporaryFolder folder;
  write_bytes(folder.file("a.wft"), "old");
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &usual), 0);
  const auto usual_handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit little{.rlim_cur = 100, .rlim_max = usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
  const Expected<void> written = write_trace(folder.file("a.wft"), {sample()});
  setrlimit(RLIMIT_FSIZE, &usual);
  signal(SIGXFSZ, usual_handler);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("a.wft\": File too large"));
  EXPECT_EQ(read_bytes(folder.file("a.wft")), "old");
  EXPECT_EQ(files_in(folder), 1);
}

// Returns the message for a file of these bytes.
std::string refusal(std::string_view bytes) {
  const TemporaryFolder folder;
  write_bytes(folder.file("a.wft"), bytes);
  const Expected<std::vector<Kernel>> kernels = read_trace(folder.file("a.wft"));
  if (kernels) return "accepted";
  EXPECT_EQ(kernels.error().file, folder.file("a.wft"));
  return kernels.error().message;
}

std::string sample_content() { return encode_kernels("sample", {sample()}).value(); }

TEST(ForeignFile, MissingOrUnreadable) {
  const TemporaryFolder folder;
  EXPECT_THAT(read_trace(folder.file("a.wft")).error().message, "cannot read the trace: No such file or directory");
  EXPECT_THAT(read_trace(folder.path()).error().message, "cannot read the trace: Is a directory");
}

TEST(ForeignFile, NotZstd) {
  EXPECT_THAT(refusal(""), HasSubstr("truncated: 0 bytes"));
  EXPECT_THAT(refusal(kSampleText), HasSubstr("not a trace: a trace file (.wft) is a zstd frame"));
  EXPECT_THAT(refusal(sample_content()), HasSubstr("not a trace"));
}

TEST(ForeignFile, ZstdOfSomethingElse) {
  EXPECT_THAT(refusal(compress("")), HasSubstr("not a Warpfold trace"));
  EXPECT_THAT(refusal(compress(kSampleText)), HasSubstr("not a Warpfold trace"));
  EXPECT_THAT(refusal(compress(std::string("\x02\x08\x01", 3))), HasSubstr("not a Warpfold trace"));
}

TEST(ForeignFile, TrailingBytes) {
  EXPECT_EQ(refusal(compress(sample_content()) + "more"), "4 trailing bytes after the zstd frame");
  EXPECT_EQ(refusal(compress(sample_content() + "more")), "4 trailing bytes after the last kernel");
}

TEST(ForeignFile, TooLarge) {
  // 65 MiB of zeros compress to a few kilobytes.
  EXPECT_EQ(refusal(compress(std::string(size_t{65} << 20U, '\0'))), "more than 64 MiB after decompression: refused");
  const TemporaryFolder folder;
  std::ofstream(folder.file("sparse.wft"), std::ios::binary).seekp(std::streamoff{200} << 20U).put('x');
  EXPECT_EQ(read_trace(folder.file("sparse.wft")).error().message, "more than 64 MiB: too large for a trace");
}

TEST(DamagedFile, EveryTruncationIsNoticed) {
  const std::string bytes = compress(sample_content());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(refusal(bytes.substr(0, size)), HasSubstr("truncated")) << size;
  }
}

TEST(DamagedFile, EveryFlippedBitIsNoticed) {
  const std::string bytes = compress(sample_content());
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ (1U << bit));
      const Expected<std::string> content = decompress("damaged", damaged, size_t{1} << 20U);
      // Some bits of a zstd frame mean nothing (RFC 8878: the unused bit of the frame header).
      EXPECT_TRUE(!content || *content == sample_content()) << "byte " << at << " bit " << bit;
    }
  }
}

TEST(DamagedFile, ContentWithoutChecksumNeverCrashes) {
  const std::string content = sample_content();
  for (size_t size = 0; size < content.size(); ++size) {
    EXPECT_FALSE(decode_kernels("cut", content.substr(0, size))) << size;
  }
  for (size_t at = 0; at < content.size(); ++at) {
    for (const unsigned bit : {0U, 3U, 7U}) {
      std::string damaged = content;
      damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ (1U << bit));
      const Expected<std::vector<Kernel>> kernels = decode_kernels("damaged", damaged);
      // A flipped bit can turn one valid kernel into another: then it must also survive the way out and in again.
      if (kernels) {
        EXPECT_EQ(decode_kernels("again", encode_kernels("again", *kernels).value()).value(), *kernels);
      } else {
        EXPECT_FALSE(kernels.error().message.empty());
      }
    }
  }
}

}  // namespace
}  // namespace warpfold::traces
