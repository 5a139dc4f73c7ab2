// The content of a study's folder, damaged or not: finished points (PointLog), claims (ClaimChain), a plan. A line of points that
// begins with "=" gets its checksum here. libFuzzer's entry.

#include <charconv>

#include "tests/fuzz/input.h"
#include "tools/warpfold/figures/content_hash.h"
#include "tools/warpfold/store/point_store.h"

namespace {

using namespace warpfold;

constexpr size_t kPoints = 6;

// "NAME TEXT": a claim's file and its content.
void write_claims(const fuzz::Scratch& scratch, std::string_view text) {
  for (const std::string& line : fuzz::lines_of(text)) {
    const size_t blank = line.find(' ');
    if (blank == std::string::npos || blank == 0 || blank > 16) continue;
    const std::string name = line.substr(0, blank);
    if (name.find_first_not_of("0123456789.") != std::string::npos || name.front() == '.') continue;
    scratch.write("claims/" + name, line.substr(blank + 1));
  }
}

std::string with_checksums(std::string_view text) {
  std::string all;
  for (const std::string& line : fuzz::lines_of(text)) {
    all += line.starts_with("=") ? cli::content_hash(line.substr(1)) + " " + line.substr(1) : line;
    all += '\n';
  }
  if (!text.ends_with('\n') && !all.empty()) all.pop_back();
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::Scratch scratch;
  static const auto presence = cli::Presence::announce(scratch.path("workers")).value();
  const auto parts = fuzz::parts_of(fuzz::text_of(data, size), 3);
  scratch.write("other.points", with_checksums(parts[0]));
  cli::PointLog log(scratch.folder(), "fuzz");
  fuzz::require(log.open().has_value(), "the folder of points is there");
  for (const char* key : {"6018f346e30a3b1b", "0000000000000000"}) {
    fuzz::require(log.has(key) || !log.find(key), "a point is found that the log does not have");
  }
  const auto mean = log.mean_milliseconds();
  fuzz::require(!mean || *mean >= 0, "a mean below zero");

  std::filesystem::remove_all(scratch.path("claims"));
  std::filesystem::create_directory(scratch.path("claims"));
  write_claims(scratch, parts[1]);
  cli::ClaimChain chain(scratch.path("claims"), *presence, kPoints);
  size_t claims = 0;
  for (auto next = chain.next([](size_t begin) { return begin + 2; }); next && *next;
       next = chain.next([](size_t begin) { return begin + 2; })) {
    fuzz::require((*next)->begin < (*next)->end && (*next)->end <= kPoints && ++claims <= kPoints, "a claim beyond the points");
  }
  for (auto taken = chain.take_over([](const cli::PointRange&) { return true; }); taken && *taken && claims < 4 * kPoints; ++claims)
    taken = chain.take_over([](const cli::PointRange&) { return true; });
  return 0;
}
