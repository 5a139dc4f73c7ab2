#include "tools/report/verdict.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>

#include "tools/report/names.h"
#include "tools/report/number_text.h"
#include "tools/report/ranking.h"

namespace warpfold::report {

namespace {

double total(const Contestant& run) { return run.result->total_time_us(); }

bool only_policies_differ(const std::vector<Contestant>& runs) {
  return std::ranges::all_of(runs, [&](const Contestant& run) {
    return run.result->scenario() == runs.front().result->scenario() && run.result->gpu() == runs.front().result->gpu();
  });
}

// Labels of the runs that differ from the fastest by less than folding's error bounds.
std::vector<std::string> ties(const Contestant& fastest, const std::vector<Contestant>& runs) {
  std::vector<const configs::Result*> results;
  for (const Contestant& run : runs) results.push_back(run.result);
  const std::vector<uint32_t> places = ranks(results);
  std::vector<std::string> equal;
  for (size_t r = 0; r < runs.size(); ++r) {
    if (places[r] == 1 && &runs[r] != &fastest) equal.push_back(runs[r].label);
  }
  return equal;
}

}  // namespace

configs::Statement verdict(const std::vector<Contestant>& runs) {
  const Contestant& first = runs.front();
  const Contestant& fastest = *std::ranges::min_element(runs, {}, total);
  configs::Statement said;
  std::string& text = *said.mutable_text();
  text = only_policies_differ(runs) && !fastest.result->policy().empty()
             ? policy_words(*fastest.result) + " (" + fastest.label + "): "
             : fastest.label + ": ";
  text += time_text(total(fastest));
  said.add_field(fastest.path + ".total_time_us");
  std::vector<std::string> equal = ties(fastest, runs);
  if (&fastest != &first) {
    const bool tie = std::erase(equal, first.label) > 0;
    const std::string times = fixed(total(first) / total(fastest), 3);
    text += tie ? ", within folding's bounds as fast as " + first.label + " (" + times + " times)"
                : ", " + times + " times as fast as " + first.label;
    said.add_field(first.path + ".total_time_us");
  } else if (runs.size() > 1) {
    text += ", the fastest of " + std::to_string(runs.size()) + " runs";
  }
  if (!equal.empty())
    text +=
        "; within folding's bounds " + boost::algorithm::join(equal, ", ") + (equal.size() > 1 ? " are as fast" : " is as fast");
  if (!fastest.result->reason().empty()) {
    text += "; limited by " + fastest.result->reason();
    said.add_field(fastest.path + ".reason");
  }
  if (fastest.result->stored_bits_bytes() > 0) {
    text += "; stores " + bytes_text(static_cast<double>(fastest.result->stored_bits_bytes())) + " of random bits";
    said.add_field(fastest.path + ".stored_bits_bytes");
  }
  text += ".";
  return said;
}

std::string verdict_text(const configs::Comparison& comparison) {
  std::vector<Contestant> runs;
  for (const configs::Result& result : comparison.results()) runs.push_back({result.policy(), "", &result});
  return verdict(runs).text();
}

}  // namespace warpfold::report
