// Each destination with all hostile texts, and examples of each destination's output.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "configs/escape/csv.h"
#include "configs/escape/gnuplot.h"
#include "configs/escape/html.h"
#include "configs/escape/json.h"
#include "configs/escape/markdown.h"
#include "configs/escape/quoted.h"
#include "configs/escape/terminal.h"
#include "configs/escape/text_format.h"
#include "configs/escape/utf8.h"
#include "configs/escape/visible.h"
#include "tests/hostile/texts.h"

namespace warpfold::escape {
namespace {

using testing::HasSubstr;

bool has_any(std::string_view text, std::string_view letters) { return text.find_first_of(letters) != std::string_view::npos; }

// Valid UTF-8 in one line of characters that are seen.
bool is_plain_line(const std::string& text) { return why_unprintable(text).empty(); }

TEST(Visible, IsOnePlainLineWhateverTheText) {
  for (const std::string& text : hostile_texts()) EXPECT_TRUE(is_plain_line(visible(text))) << visible(text);
}

TEST(Visible, NamesWhatIsUnseenAndLeavesTheRest) {
  EXPECT_EQ(visible("clo\x1b[31mck_mhz"), "clo\\x1b[31mck_mhz");
  EXPECT_EQ(visible("a\nb\tc\rd\x7f"), "a\\nb\\tc\\rd\\x7f");
  EXPECT_EQ(visible("\xc2\x9b"), "\\u{9b}");
  EXPECT_EQ(visible("\u202eabc\u202c"), "\\u{202e}abc\\u{202c}");
  EXPECT_EQ(visible("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(visible("G\u00f6del \u65e5\u672c \U0001f600 C:\\x1b"), "G\u00f6del \u65e5\u672c \U0001f600 C:\\x1b");
}

TEST(Visible, CountsCharactersWhereItCuts) {
  EXPECT_EQ(visible("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(visible("abcdefghi", 8), "abcde...");
  EXPECT_EQ(visible("\u00e9\u00e9\u00e9\u00e9\u00e9", 5), "\u00e9\u00e9\u00e9\u00e9\u00e9");
  EXPECT_EQ(visible("\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", 5), "\u00e9\u00e9...");
  EXPECT_EQ(visible("ab\x1b"
                    "cdefgh",
                    8),
            "ab...")
      << "an escape is not cut in two";
}

TEST(Unprintable, SaysWhy) {
  EXPECT_EQ(why_unprintable("plain \u00e9"), "");
  EXPECT_EQ(why_unprintable("a\xff"), "bytes that are no UTF-8");
  EXPECT_EQ(why_unprintable("a\nb"), "a line break or another control character");
  EXPECT_EQ(why_unprintable("a\u202eb"), "the unseen character \\u{202e}");
}

TEST(Quoted, IsALineOfAtMostEightyCharacters) {
  for (const std::string& text : hostile_texts()) EXPECT_TRUE(is_plain_line(escape::quoted(text)));
  EXPECT_EQ(quoted("tile_n"), "\"tile_n\"");
  EXPECT_EQ(escape::quoted(std::string(10000, 'a')), '"' + std::string(77, 'a') + "...\"");
  EXPECT_EQ(escape::quoted(std::string(80, 'a')), '"' + std::string(80, 'a') + '"');
  EXPECT_EQ(unquoted("seq=1\n"), "seq=1\\n");
  EXPECT_EQ(remark(std::string(10000, '\x1b')).size(), 159) << "39 escapes and three dots";
}

TEST(ShownPath, KeepsTheFilesNameAndStaysShort) {
  EXPECT_EQ(path("a/b.textproto"), "a/b.textproto");
  EXPECT_EQ(path("a/\x1b[2J.json"), "a/\\x1b[2J.json");
  const std::string folder(100, 'f');
  const std::string file = "/" + folder + "/" + folder + "/study/kernel.textproto";
  EXPECT_EQ(path(file), ".../" + folder + "/study/kernel.textproto");
  EXPECT_EQ(path("/" + std::string(300, 'x') + "/name.csv"), ".../name.csv");
  const std::string name(400, 'n');
  EXPECT_EQ(path("a/" + name).size(), kMostOfPath);
  EXPECT_EQ(path(name).size(), kMostOfPath);
  EXPECT_EQ(quoted_path("a"), "\"a\"");
}

TEST(Terminal, GetsLinesThatItShowsAndNothingThatItObeys) {
  for (const std::string& text : hostile_texts()) {
    std::string shown = terminal("first\n" + text + "\tlast\n");
    std::erase_if(shown, [](char letter) { return letter == '\n' || letter == '\t'; });
    EXPECT_TRUE(is_plain_line(shown)) << shown;
  }
  EXPECT_EQ(terminal("a\n\tb\r\x1b[0m\n"), "a\n\tb\\r\\x1b[0m\n");
  const std::string report = "kernel  cycles\ngemm     1,234\n\u00b5s\n";
  EXPECT_EQ(terminal(report), report);
}

TEST(Html, HasNoMarkupAndNoByteThatXmlRefuses) {
  for (const std::string& text : hostile_texts()) {
    const std::string shown = html(text);
    EXPECT_FALSE(has_any(shown, "<>\"'")) << shown;
    EXPECT_TRUE(is_plain_line(visible(shown)));
    for (size_t at = shown.find('&'); at != std::string::npos; at = shown.find('&', at + 1))
      EXPECT_TRUE(shown.find(';', at) != std::string::npos && shown.find(';', at) <= at + 5) << shown;
  }
  EXPECT_EQ(html("a < b && \"c\" 'd'\x0b"), "a &lt; b &amp;&amp; &quot;c&quot; &#39;d&#39;\\x0b");
}

TEST(Html, LetsNoJsonEndItsScript) {
  for (const std::string& text : hostile_texts()) EXPECT_FALSE(has_any(script_json(json(text)), "<>&"));
  EXPECT_EQ(script_json(R"({"a": "</script><!--"})"), R"({"a": "\u003c/script\u003e\u003c!--"})");
}

TEST(Gnuplot, TextIsOneQuotedLine) {
  for (const std::string& text : hostile_texts()) {
    const std::string shown = gnuplot(text);
    ASSERT_TRUE(is_plain_line(shown));
    // Outside of "'" no single quote is left but those around the parts.
    std::string parts = shown;
    for (size_t at = parts.find("'.\"'\".'"); at != std::string::npos; at = parts.find("'.\"'\".'")) parts.erase(at, 7);
    EXPECT_EQ(std::ranges::count(parts, '\''), 2) << shown;
    const std::string cell = gnuplot_cell(text);
    EXPECT_TRUE(is_plain_line(cell));
    EXPECT_EQ(std::ranges::count(cell, '"'), 2) << cell;
    EXPECT_TRUE(is_plain_line(gnuplot_comment(text)) && !gnuplot_comment(text).ends_with('\\'));
  }
  EXPECT_EQ(gnuplot("it's\na`b`"), "('it'.\"'\".'s\\na`b`')");
  EXPECT_EQ(gnuplot_cell("a\\ \"b\""), "\"a\\\\ 'b'\"");
}

TEST(Csv, BeginsNoFormulaAndStaysACell) {
  for (const std::string& text : hostile_texts()) {
    const std::string cell = csv(text);
    EXPECT_TRUE(is_plain_line(cell));
    const std::string first = cell.substr(std::min(cell.find_first_not_of("\" "), cell.size()), 1);
    EXPECT_FALSE(has_any(first, "=+-@")) << cell;
    if (has_any(cell, ",\"")) {
      EXPECT_TRUE(cell.starts_with('"') && cell.ends_with('"')) << cell;
    }
    EXPECT_EQ(std::ranges::count(cell, '"') % 2, 0) << cell;
  }
  EXPECT_EQ(csv("=1+1"), "'=1+1");
  EXPECT_EQ(csv("  =1+1"), "'  =1+1");
  EXPECT_EQ(csv("a, \"b\""), "\"a, \"\"b\"\"\"");
  for (const char* kept : {"-", "+", "-1.5", "+3e8", "-7", "a=b", "a-b", ""}) EXPECT_EQ(csv(kept), kept);
}

TEST(Json, IsTheSameTextInPlainUtf8) {
  for (const std::string& text : hostile_texts()) EXPECT_TRUE(is_plain_line(json(text)));
  EXPECT_EQ(json("a\"b\\c\nd\te\x01"), "\"a\\\"b\\\\c\\nd\\u0009e\\u0001\"");
  EXPECT_EQ(json("\xff"
                 "G\u00f6\xc3"),
            "\"\\ufffdG\u00f6\\ufffd\"");
  EXPECT_EQ(json("\u202e\x7f\xc2\x9b\U000e0041"), "\"\\u202e\\u007f\\u009b\\udb40\\udc41\"");
}

TEST(Markdown, HasNoMarkupOfItsOwn) {
  for (const std::string& text : hostile_texts()) {
    const std::string shown = markdown(text);
    EXPECT_TRUE(is_plain_line(shown));
    EXPECT_FALSE(has_any(shown, "<>@")) << shown;
    for (size_t i = 0; i < shown.size(); ++i) {
      if (!has_any(shown.substr(i, 1), "`*[]#!|~$\\")) continue;
      // A character reference has a # of its own.
      if (shown[i] == '#' && i > 0 && shown[i - 1] == '&') continue;
      ASSERT_EQ(shown[i], '\\') << shown;
      ++i;
    }
    EXPECT_EQ(std::ranges::count(markdown_code(text), '`'), 2);
  }
  EXPECT_EQ(markdown("a_b [x](http://y) | `c`"), "a_b \\[x\\](http&#58;//y) \\| \\`c\\`");
  EXPECT_EQ(markdown("_a_ <b>"), "\\_a\\_ &lt;b&gt;");
}

TEST(TextFormat, IsReadBackAsTheSameBytes) {
  EXPECT_EQ(text_format("a\"b\\c\n\xff"
                        "1\u00e9"),
            "\"a\\\"b\\\\c\\012\\3771\u00e9\"");
  for (const std::string& text : hostile_texts()) {
    EXPECT_TRUE(is_plain_line(text_format(text)));
    EXPECT_TRUE(is_plain_line(comment(text)));
  }
}

}  // namespace
}  // namespace warpfold::escape
