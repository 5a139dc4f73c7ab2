#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/result.pb.h"

namespace warpfold::report {

// Microseconds: how far the difference of two total times may be off. An estimated run (Fold.estimated) counts by its error bound
// times its own time. A run that both results contain has one error, which cancels: only the difference of its two times counts.
//
//   a: run 1, 100 us, 3 %; run 2, 50 us, 0.2 %      b: run 2, 50 us, 0.2 %; run 3, 200 us, 0.2 %      3 + 0 + 0.4 us
//
// A result without Fold.total_error_bound, of an earlier version, is one run with the bound of all.
double error_of_difference_us(const configs::Result& a, const configs::Result& b);

// Places by total time, in the order of `runs`: 1 + how many others are faster by more than the error of the difference. That error
// obeys the triangle inequality; hence no two runs of one place can be told apart, though one of them may be apart from a third.
std::vector<uint32_t> ranks(const std::vector<const configs::Result*>& runs);

// For each of `runs` the tie with the fastest run of its place; none for that run itself. `labels` name the runs.
std::vector<std::optional<configs::Tie>> ties(const std::vector<const configs::Result*>& runs,
                                              const std::vector<std::string>& labels);

// Sets the ranks and the ties of results.
void rank(configs::Comparison& comparison, const std::vector<std::string>& labels);
void rank_policies(configs::Comparison& comparison);  // labels: the policies

}  // namespace warpfold::report
