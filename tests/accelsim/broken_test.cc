// Broken traces: one message with file, line and advice.

#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>

#include <ostream>

#include "tests/accelsim/trace_text.h"
#include "traces/accelsim/kernel_list.h"
#include "traces/compression.h"

namespace warpfold::test {
namespace {

const std::string kExit = "0200 ffffffff 0 EXIT 0 0 0\n";
const std::string kGood = trace_header() + thread_block(0, {"0010 ffffffff 1 R1 MOV 0 0 0\n" + kExit});

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const size_t at = text.find(what);
  if (at == std::string::npos) throw std::logic_error("no " + std::string(what));
  return text.replace(at, what.size(), with);
}

struct Case {
  std::string name;
  std::string text;
  int line;
  std::string message;
};
void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

class BrokenTrace : public testing::TestWithParam<Case> {};

TEST_P(BrokenTrace, HasOneMessage) {
  const auto made = import_text(GetParam().text);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().file, "sample.traceg");
  EXPECT_EQ(made.error().line, GetParam().line) << made.error().text();
  EXPECT_NE(made.error().message.find(GetParam().message), std::string::npos) << made.error().text();
}

std::vector<Case> cases() {
  return {
      {"Registers", replaced(replaced(kGood, "nregs = 40", "nregs = 21955"), "shmem = 1024", "shmem = 1"), 6,
       "nregs = 21955; a thread"},
      {"BinaryVersion", replaced(kGood, "binary version = 80", "binary version = 0"), 7, "binary version = 0 is none of sm_70"},
      {"Block", replaced(kGood, "(32,1,1)", "(4096,1,1)"), 4, "a block of too many threads"},
      {"Grid", replaced(kGood, "grid dim = (1,1,1)", "grid dim = (1,1)"), 3, "cannot read the grid dim"},
      {"GridAcross", replaced(kGood, "grid dim = (1,1,1)", "grid dim = (1,70000,1)"), 3, "a grid of 70000 x 1"},
      {"Version", replaced(kGood, "tracer version = 5", "tracer version = 9"), 12, "versions 1 to 6 are read"},
      {"NoHeader", "hello\n", 1, "no header"},
      {"Empty", "", 1, "an empty file"},
      {"NoBlock", trace_header(), 14, "no thread block"},
      {"NoExit", trace_header() + thread_block(0, {"0010 ffffffff 1 R1 MOV 0 0 0\n"}), 23, "does not end with EXIT"},
      {"ExitOfNoLane", trace_header() + thread_block(0, {"0010 00000000 0 EXIT 0 0 0\n"}), 23, "does not end with EXIT"},
      {"Opcode", replaced(kGood, "MOV", "MOW"), 21, "MOW"},
      {"Modifier", replaced(kGood, "MOV", "MUFU.FOO"), 21, "unknown modifiers of \"MUFU.FOO\""},
      {"Addresses", replaced(kGood, "1 R1 MOV 0 0 0", "1 R1 LDG.E 1 R2 4 0 0x10 0x20 0"), 21, "the mask has 32 lanes"},
      {"Count", replaced(kGood, "insts = 2", "insts = 3"), 24, "its insts line says 3"},
      {"OtherCta", replaced(kGood, "thread block = 0,0,0", "thread block = 5,0,0"), 17, "outside the header's grid"},
      {"OtherWarp", replaced(kGood, "warp = 0", "warp = 3"), 19, "warp 3 of a block of 32 threads"},
      {"Truncated", kGood.substr(0, kGood.find("#END_TB")), 23, "truncated"},
      {"Nested", replaced(kGood, "#END_TB", "#BEGIN_TB"), 24, "before the last one has ended"},
      {"EndTwice", kGood + "#END_TB\n", 26, "has not begun"},
      {"Mbarrier",
       replaced(replaced(kGood, "binary version = 80", "binary version = 90"), "1 R1 MOV 0 0 0", "0 SYNCS.ARRIVE.TRANS64 1 R2 0 0"),
       21, "mbarriers"},
      {"Uneven", trace_header(5, 2, 64) + thread_block(0, {kExit, kExit}) + thread_block(1, {kExit}), 38,
       "has no instructions, and the same"},
      {"Stream", replaced(kGood, "-nvbit version", "#warpfold stream A dram=1\n-nvbit version"), 11, "expected #warpfold stream"},
      {"Pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", 1, "git lfs pull"},
  };
}

INSTANTIATE_TEST_SUITE_P(Broken, BrokenTrace, testing::ValuesIn(cases()), [](const auto& each) { return each.param.name; });

// ---- compressed

std::string xz(const std::string& text) {
  std::string out(text.size() + 4096, '\0');
  size_t size = 0;
  if (lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                              reinterpret_cast<uint8_t*>(out.data()), &size, out.size()) != LZMA_OK)
    throw std::logic_error("xz");
  return out.substr(0, size);
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::logic_error("gzip");
  std::string out(text.size() + 4096, '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& text) { return traces::compress(text); }

TEST(Compressed, ReadsAsThePlainText) {
  const traces::Kernel plain = imported(kGood);
  for (const auto& compress : {xz, gzip, zstd}) {
    const auto made = import_text(compress(kGood));
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(made->kernel, plain);
  }
  EXPECT_EQ(imported(gzip(kGood.substr(0, 100)) + gzip(kGood.substr(100))), plain);  // pigz writes several members
  EXPECT_EQ(imported(xz(kGood.substr(0, 100)) + xz(kGood.substr(100))), plain);
}

TEST(Compressed, TruncatedAndDamagedFilesSaySo) {
  const std::vector<std::pair<std::string, std::string>> files = {{"xz", xz(kGood)}, {"gzip", gzip(kGood)}, {"zstd", zstd(kGood)}};
  for (const auto& [name, file] : files) {
    const auto cut = import_text(file.substr(0, file.size() / 2));
    ASSERT_FALSE(cut) << name;
    EXPECT_NE(cut.error().text().find("truncated: the " + name + " data ends early"), std::string::npos) << cut.error().text();
    EXPECT_GT(cut.error().line, 0);
    std::string bad = file;
    bad[file.size() / 2] = static_cast<char>(bad[file.size() / 2] ^ 0x55);
    EXPECT_FALSE(import_text(bad)) << name;
  }
}

// ---- every prefix

TEST(Prefixes, OfASmallFileAreRefusedOrRead) {
  const std::string text =
      trace_header(6, 2, 64, "#warpfold stream A read dram=1/2 l1=0/1\n") +
      thread_block(0, {"0010 ffffffff 1 R4 LDG.E.128 1 R2 16 2 0x7e0000000000 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 "
                       "16 16 16 16 16 16 16 16 16 16 16 16 16 16 16 0 NoVal\n" +
                           kExit,
                       kExit}) +
      thread_block(1, {kExit, kExit});
  for (size_t length = 0; length < text.size(); ++length) {
    const auto made = import_text(text.substr(0, length));
    if (!made) {
      EXPECT_FALSE(made.error().message.empty());
    }
  }
  for (const std::string& file : {xz(text), gzip(text), zstd(text)}) {
    for (size_t length = 0; length < file.size(); ++length) EXPECT_FALSE(import_text(file.substr(0, length))) << length;
  }
}

// ---- lists

Expected<std::vector<traces::accelsim::ListEntry>> list_of(const std::string& text) {
  return traces::accelsim::read_kernel_list("kernelslist.g", traces::accelsim::source_of("kernelslist.g", text).value());
}

TEST(KernelList, KeepsKernelsAndCopies) {
  const auto list = list_of("MemcpyHtoD,0x00007f3354c00000,800000\nkernel-1.traceg\n\nnccl something\nkernel-2.traceg.xz");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 3);
  EXPECT_TRUE((*list)[0].copy);
  EXPECT_EQ((*list)[2].text, "kernel-2.traceg.xz");
  EXPECT_EQ((*list)[2].line, 5);
}

TEST(KernelList, NeedsAKernel) { EXPECT_NE(list_of("MemcpyHtoD,0x0,1\n").error().message.find("no kernels"), std::string::npos); }

}  // namespace
}  // namespace warpfold::test
