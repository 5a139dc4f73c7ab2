// The finished points of a study's folder, damaged or not (PointLog). A line that begins with "=" gets its checksum here.
// libFuzzer's entry.

#include "configs/study.pb.h"
#include "tests/fuzz/input.h"
#include "tools/warpfold/figures/content_hash.h"
#include "tools/warpfold/store/point_log.h"

namespace {

using namespace warpfold;

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
  scratch.write("other.points", with_checksums(fuzz::text_of(data, size)));
  cli::PointLog log(scratch.folder());
  fuzz::require(log.open().has_value(), "the folder of points is there");
  for (const char* key : {"6018f346e30a3b1b", "0000000000000000"}) {
    configs::StudyPoint point;
    fuzz::require(log.has(key) || !log.find(key, point), "a point is found that the log does not have");
  }
  return 0;
}
