#include "tools/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpfold::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Page, HoldsTheDataInABlockThatNoTextCanEnd) {
  const std::string page = html_page("t", R"({"name": "</script><script>alert(1)</script><!--"})");
  EXPECT_THAT(page, HasSubstr(R"({"name":"\u003c/script\u003e\u003cscript\u003ealert(1)\u003c/script\u003e\u003c!--"})"));
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
}

TEST(Page, DropsSpaceBetweenPartsOfTheDataAlone) {
  EXPECT_THAT(html_page("t", "{\n  \"a b\": \"c \\\" d \\\\\",\n  \"e\": [1, 2]\n}\n"),
              HasSubstr(R"({"a b":"c \" d \\","e":[1,2]}<)"));
}

TEST(Page, EscapesItsTitle) {
  const std::string page = html_page("a</title><b> & \"c\"", "{}");
  EXPECT_THAT(page, HasSubstr("<title>a&lt;/title&gt;&lt;b&gt; &amp; &quot;c&quot;</title>"));
}

TEST(Page, LeavesTextThatLooksLikeAnInsertionAlone) {
  EXPECT_THAT(html_page("<!-- insert data -->", "{}"), HasSubstr("<title>&lt;!-- insert data --&gt;</title>"));
}

TEST(Page, NamesTheChartLibrarysLicence) { EXPECT_THAT(html_page("t", "{}"), HasSubstr("BSD-3-Clause")); }

TEST(Page, IsSmallerThanTwoMegabytes) { EXPECT_LT(html_page("t", "{}").size(), 1U << 20); }

}  // namespace
}  // namespace warpfold::report
