// .tracez: the text of a .traceg, compressed warp by warp behind an index.

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>

#include "tests/accelsim/trace_text.h"

namespace warpfold::test {
namespace {

const std::string kMove = "0010 ffffffff 1 R1 MOV 0 0 0\n";
const std::string kExit = "0200 ffffffff 0 EXIT 0 0 0\n";

std::string words(const std::vector<uint32_t>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(uint32_t)};
}
std::string word64(uint64_t number) { return {reinterpret_cast<const char*>(&number), sizeof(number)}; }

std::string compressed(const std::string& text, const std::string& dictionary) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  out.resize(
      ZSTD_compress_usingDict(context, out.data(), out.size(), text.data(), text.size(), dictionary.data(), dictionary.size(), 3));
  ZSTD_freeCCtx(context);
  return out;
}

// As the tracer writes it; a piece has two lines.
std::string tracez(const std::string& header, const std::vector<std::vector<std::string>>& ctas,
                   const std::string& dictionary = "") {
  std::string file = header + '\0' + words({static_cast<uint32_t>(dictionary.size()), 2}) + dictionary;
  std::string index = words({static_cast<uint32_t>(ctas.size())});
  for (uint32_t cta = 0; cta < ctas.size(); ++cta) {
    index += words({cta, 0, 0, 0, 0, 0, 0, 0, 0, 0, static_cast<uint32_t>(ctas[cta].size())});
    for (std::string warp : ctas[cta]) {
      const auto lines = static_cast<uint32_t>(std::ranges::count(warp, '\n'));
      const uint32_t pieces = (lines + 1) / 2;
      index += words({lines, pieces}) + word64(file.size());
      file += words({lines, pieces});
      for (uint32_t piece = 0; piece < pieces; ++piece) {
        const uint32_t some = std::min(2U, lines - 2 * piece);
        size_t end = 0;
        for (uint32_t line = 0; line < some; ++line) end = warp.find('\n', end) + 1;
        const std::string frame = compressed(warp.substr(0, end), dictionary);
        file += words({static_cast<uint32_t>(frame.size())}) + frame;
        index += words({some});
        warp.erase(0, end);
      }
    }
  }
  const uint64_t place = file.size();
  return file + index + word64(place);
}

Expected<traces::accelsim::ImportedKernel> import_tracez(const std::string& content) {
  auto source = traces::accelsim::source_of("sample.tracez", content);
  if (!source) return std::unexpected(source.error());
  return traces::accelsim::import_kernel("sample.tracez", *std::move(source), {});
}

const std::vector<std::vector<std::string>> kCtas{{kMove + kMove + kMove + kExit, kMove + kExit},
                                                  {kMove + kMove + kExit, kMove + kExit}};

TEST(Tracez, ReadsAsTheTextInside) {
  const std::string header = trace_header(6, 2, 64);
  const auto text = import_text(header + thread_block(0, kCtas[0]) + thread_block(1, kCtas[1]));
  ASSERT_TRUE(text) << text.error().text();
  for (const std::string dictionary : {"", "ffffffff 1 R1 MOV 0 0 0 ffffffff 0 EXIT 0 0 0"}) {
    const auto made = import_tracez(tracez(header, kCtas, dictionary));
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(made->kernel, text->kernel);
    EXPECT_EQ(made->instructions, 11U);
  }
}

TEST(Tracez, WarpsWithoutInstructionsAreLeftOut) {
  const auto made = import_tracez(tracez(trace_header(6, 2, 64), {{kMove + kExit, ""}, {kMove + kExit, ""}}));
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ(made->kernel.warps_per_cta(), 1U);
}

TEST(Tracez, TruncatedAndDamagedFilesSaySo) {
  const std::string good = tracez(trace_header(6, 2, 64), kCtas);
  ASSERT_TRUE(import_tracez(good));
  for (size_t length = 0; length < good.size(); ++length) {
    const auto cut = import_tracez(good.substr(0, length));
    ASSERT_FALSE(cut) << length;
    EXPECT_EQ(cut.error().file, "sample.tracez");
    EXPECT_FALSE(cut.error().message.empty()) << length;
  }
  EXPECT_NE(import_tracez(good.substr(0, good.size() / 2)).error().message.find("truncated"), std::string::npos);
  const size_t frame = good.find("\x28\xb5\x2f\xfd");
  std::string bad = good;
  bad[frame] = 0;
  EXPECT_NE(import_tracez(bad).error().message.find("damaged .tracez data"), std::string::npos);
  bad = good;
  bad[frame - 12] = 9;  // instructions of the first warp
  EXPECT_NE(import_tracez(bad).error().message.find("the index and warp 0 differ"), std::string::npos)
      << import_tracez(bad).error().text();
  EXPECT_NE(import_tracez("-kernel name = x\n").error().message.find("truncated"), std::string::npos);
}

TEST(Tracez, AnIndexThatSaysOtherInstructionsIsRefused) {
  std::string file = tracez(trace_header(6, 1, 32), {{kMove + kExit}});
  // Both places that count the warp's instructions.
  const size_t first = file.find("\x28\xb5\x2f\xfd") - 12;
  const size_t second = file.size() - 8 - 4 - 16;
  for (const size_t at : {first, second}) {
    ASSERT_EQ(file[at], 2);
    file[at] = 3;
  }
  EXPECT_NE(import_tracez(file).error().message.find("its insts line says 3"), std::string::npos);
}

}  // namespace
}  // namespace warpfold::test
