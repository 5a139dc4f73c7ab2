#pragma once

#include <string>

#include "configs/diagnostic.h"
#include "traces/import/explore.h"
#include "traces/import/launch_facts.h"

namespace warpfold::sass {

// Converts signals between the CTAs of a cluster into signals within each CTA, because a ring belongs to a single CTA.
// In a cluster CTAs arrive at each other's mbarriers and load for each other. A CTA's signals to other CTAs are counted
// at its own mbarriers, in place of the signals that it receives. Both are equal if all CTAs of a cluster take the same
// path. Otherwise:
//
//   arrivals          an mbarrier must receive as many arrivals as its CTA sends to the others, or the import fails
//   multicast boxes   if some CTAs send and others only receive, each receiver issues the load itself, after the arrival
//                     that expects its bytes, and each copy counts for one CTA
//
//   rank 0:  expect 48 KiB, A 16 KiB, B 32 KiB to both        rank 0:  expect 48 KiB, A 16 KiB, B 32 KiB multicast=2
//   rank 1:  expect 48 KiB, A 16 KiB                     ->   rank 1:  expect 48 KiB, B 32 KiB multicast=2, A 16 KiB
Expected<void> settle_cluster_signals(const std::string& file, const std::vector<Op>& ops, const LaunchFacts& launch,
                                      Exploration& found);

}  // namespace warpfold::sass
