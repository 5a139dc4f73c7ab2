#include "tools/report/verdict.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <optional>

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

// Runs of the fastest run's rank that differ from that run by the same amount.
struct TiedRuns {
  std::string how;  // "1.96 % slower, told apart from 4.00 %"
  std::vector<std::string> labels;
};

std::string how_tied(const configs::Tie& tie) {
  if (tie.slower() == 0 && tie.told_apart_from() == 0) return "the same time";
  return fixed(100 * tie.slower(), 2) + " % slower, told apart from " + fixed(100 * tie.told_apart_from(), 2) + " %";
}

// Returns "tied with A, B (the same time), C (1.96 % slower, told apart from 4.00 %)" and adds the fields to `said`. Empty without
// a tie.
std::string tied_with(const std::vector<Contestant>& runs, const std::vector<std::optional<configs::Tie>>& ties,
                      configs::Statement& said) {
  std::vector<TiedRuns> groups;
  for (size_t r = 0; r < runs.size(); ++r) {
    if (!ties[r]) continue;
    const std::string how = how_tied(*ties[r]);
    auto group = std::ranges::find(groups, how, &TiedRuns::how);
    if (group == groups.end()) group = groups.insert(group, {how, {}});
    group->labels.push_back(runs[r].label);
    said.add_field(runs[r].path + ".total_time_us");
  }
  std::vector<std::string> parts;
  for (const TiedRuns& group : groups) parts.push_back(boost::algorithm::join(group.labels, ", ") + " (" + group.how + ")");
  return parts.empty() ? "" : "tied with " + boost::algorithm::join(parts, ", ");
}

// Returns the ties of the first rank, by run.
std::vector<std::optional<configs::Tie>> ties_for_first(const std::vector<Contestant>& runs) {
  std::vector<const configs::Result*> results;
  std::vector<std::string> labels;
  for (const Contestant& run : runs) {
    results.push_back(run.result);
    labels.push_back(run.label);
  }
  const std::vector<uint32_t> places = ranks(results);
  auto tied = ties(results, labels);
  for (size_t r = 0; r < runs.size(); ++r) {
    if (places[r] > 1) tied[r].reset();
  }
  return tied;
}

// True if the policy would let kernels share SMs and none of them did: a CTA of one leaves no room for one of another.
bool never_share_an_sm(const configs::Result& result) {
  const auto met = [](const configs::KernelResult& kernel) {
    return kernel.beside_size() > 0 || kernel.resident_warp_cycles() == 0;
  };
  return result.kernels_size() > 1 && places_side_by_side(result.policy()) && std::ranges::none_of(result.kernels(), met);
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
  const auto ties = ties_for_first(runs);
  const bool first_is_tied = ties.front().has_value();
  if (&fastest != &first && !first_is_tied) {
    text += ", " + fixed(total(first) / total(fastest), 3) + " times as fast as " + first.label;
    said.add_field(first.path + ".total_time_us");
  }
  const std::string tied = tied_with(runs, ties, said);
  if (!tied.empty()) {
    text += (&fastest == &first || first_is_tied ? ", " : "; ") + tied;
  } else if (&fastest == &first && runs.size() > 1) {
    text += ", the fastest of " + std::to_string(runs.size()) + " runs";
  }
  if (never_share_an_sm(*fastest.result)) {
    text += "; its kernels never share an SM";
    said.add_field(fastest.path + ".kernels");
  }
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
