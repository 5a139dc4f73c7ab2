// knobs ROOT MODEL JOBS: sweeps every numeric field of a GPU over the scenarios of ROOT/tools/knobs/scenarios and writes
// ROOT/docs/knobs.md. Exit code 1 if the page has no reason for an anomaly or an inert field.
#include <charconv>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "configs/write_file.h"
#include "tools/knobs/fields.h"
#include "tools/knobs/page.h"
#include "tools/knobs/sweep.h"

namespace warpfold::knobs {

namespace {

int run(const std::string& root, const std::string& model, unsigned jobs) {
  const auto swept = sweep(scenario_files(root + "/tools/knobs/scenarios"), numeric_fields(), jobs);
  if (!swept) {
    std::cerr << swept.error().text << '\n';
    return swept.error().exit_code;
  }
  std::cout << lists_of(*swept);
  if (auto written = write_file(root + "/docs/knobs.md", page_of(*swept, model)); !written) {
    std::cerr << written.error().text() << '\n';
    return cli::kCannotWrite;
  }
  return is_explained(*swept) ? cli::kSuccess : cli::kInternalError;
}

}  // namespace

}  // namespace warpfold::knobs

int main(int argc, char** argv) {
  unsigned jobs = 0;
  const std::string_view text = argc == 4 ? argv[3] : "";
  std::from_chars(text.data(), text.data() + text.size(), jobs);
  if (jobs == 0) {
    std::cerr << "usage: knobs ROOT MODEL JOBS\n";
    return warpfold::cli::kUserError;
  }
  try {
    return warpfold::knobs::run(argv[1], argv[2], jobs);
  } catch (const std::exception& error) {
    std::cerr << "internal error: " << error.what() << '\n';
    return warpfold::cli::kInternalError;
  }
}
