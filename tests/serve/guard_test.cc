// Which requests are answered, by their heads.

#include "tools/warpfold/serve/guard.h"

#include <gtest/gtest.h>

namespace warpfold::serve {
namespace {

const Site kSite{"0123456789abcdef0123456789abcdef", 8080};
const std::string kPage = "/0123456789abcdef0123456789abcdef/";

unsigned status(const Head& head) {
  const Verdict verdict = judge(head, kSite);
  return verdict.refusal ? verdict.refusal->status : 200;
}

std::string_view why(const Head& head) {
  const Verdict verdict = judge(head, kSite);
  return verdict.refusal ? verdict.refusal->why : "";
}

Head get(const std::string& target) { return {"GET", target, "127.0.0.1:8080", {}, {}}; }

TEST(Guard, LetsThePageAndItsQuestionsThrough) {
  EXPECT_EQ(kSite.url(), "http://127.0.0.1:8080" + kPage);
  EXPECT_EQ(judge(get(kPage), kSite).wanted, Wanted::kPage);
  EXPECT_EQ(status(get(kPage)), 200U);
  const std::string ask = kPage + "ask";
  const Verdict asked = judge({"POST", ask, "localhost:8080", "http://localhost:8080", "same-origin"}, kSite);
  EXPECT_FALSE(asked.refusal);
  EXPECT_EQ(asked.wanted, Wanted::kAnswer);
  EXPECT_EQ(status({"GET", kPage, "127.0.0.1:8080", {}, "none"}), 200U);
}

TEST(Guard, WantsTheToken) {
  for (const std::string target :
       {"/", "", "/0123456789abcdef0123456789abcdef", "/0123456789abcdef0123456789abcdee/", "/0123456789abcdef0123456789abcde/",
        "//", "/0123456789ABCDEF0123456789abcdef/", "0123456789abcdef0123456789abcdef/", "/x/0123456789abcdef0123456789abcdef/",
        "http://127.0.0.1:8080/0123456789abcdef0123456789abcdef/", "/ask"})
    EXPECT_EQ(status(get(target)), 403U) << target;
  EXPECT_EQ(why(get("/")),
            "the address has no token: open the whole address that warpfold serve printed in its terminal, "
            "http://127.0.0.1:PORT/TOKEN/");
  EXPECT_EQ(why(get("/0123456789abcdef0123456789abcdee/")),
            "the token in the address is not that of this server, which has a new one after each start: open the address that "
            "warpfold serve printed in its terminal, http://127.0.0.1:PORT/TOKEN/");
}

TEST(Guard, IsThisHostAlone) {
  for (const std::string host :
       {"", "127.0.0.1", "127.0.0.1:8081", "evil.example:8080", "127.0.0.1.evil.example:8080", "127.0.0.1:80800"})
    EXPECT_EQ(status({"GET", kPage, host, {}, {}}), 421U) << host;
  Head twice = get(kPage);
  twice.repeated = true;
  EXPECT_EQ(status(twice), 400U);
}

TEST(Guard, AnswersNoForeignPage) {
  const std::string ask = kPage + "ask";
  for (const std::string origin :
       {"http://evil.example", "null", "", "https://127.0.0.1:8080", "http://localhost:8080", "http://127.0.0.1:8081"})
    EXPECT_EQ(status({"POST", ask, "127.0.0.1:8080", origin, {}}), 403U) << origin;
  for (const std::string site : {"cross-site", "same-site", ""})
    EXPECT_EQ(status({"POST", ask, "127.0.0.1:8080", {}, site}), 403U) << site;
}

TEST(Guard, TakesTwoMethodsOfTwoPlaces) {
  EXPECT_EQ(status({"POST", kPage, "127.0.0.1:8080", {}, {}}), 405U);
  EXPECT_EQ(status(get(kPage + "ask")), 405U);
  EXPECT_EQ(status({"OPTIONS", kPage, "127.0.0.1:8080", {}, {}}), 405U);
  EXPECT_EQ(status(get(kPage + "../../etc/passwd")), 404U);
  EXPECT_EQ(status(get(kPage + "?x")), 404U);
}

TEST(Guard, DrawsATokenOf128Bits) {
  const std::string token = random_token();
  EXPECT_EQ(token.size(), 32U);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(token, random_token());
}

}  // namespace
}  // namespace warpfold::serve
