#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/result.pb.h"

namespace warpfold::report {

// Returns the error bound of the difference of two total times, in us. Each estimated run (Fold.estimated) contributes its error
// bound times its own time. A run that both results contain has a single error, which cancels except for the difference of its two
// times.
//
//   a: run 1, 100 us, 3 %; run 2, 50 us, 0.2 %      b: run 2, 50 us, 0.2 %; run 3, 200 us, 0.2 %      3 + 0 + 0.4 us
//
// A result of an earlier version, without Fold.total_error_bound, counts as one run with the overall bound.
double error_of_difference_us(const configs::Result& a, const configs::Result& b);

// Returns the ranks by total time, in the order of `runs`: 1 + the number of runs that are faster by more than the error of the
// difference. This error obeys the triangle inequality. Hence no two runs of the same rank differ by more than the error, although
// one of them may differ from a third run.
std::vector<uint32_t> ranks(const std::vector<const configs::Result*>& runs);

// Returns for each of `runs` the tie with the fastest run of its rank; none for that run itself. `labels` name the runs.
std::vector<std::optional<configs::Tie>> ties(const std::vector<const configs::Result*>& runs,
                                              const std::vector<std::string>& labels);

// Sets the ranks and the ties of results.
void rank(configs::Comparison& comparison, const std::vector<std::string>& labels);
void rank_policies(configs::Comparison& comparison);  // labels: the policies

}  // namespace warpfold::report
