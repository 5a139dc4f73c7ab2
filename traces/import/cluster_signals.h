#pragma once

#include <string>

#include "configs/diagnostic.h"
#include "traces/import/explore.h"
#include "traces/import/launch_facts.h"

namespace warpfold::sass {

// Rings are a CTA's own, and in a cluster CTAs arrive at each other's mbarriers and load for each other: what a CTA does to the
// others counts for its own mbarriers, in place of what the others do to it. That is the same where all CTAs of a cluster go the
// same way, and is checked where they do not:
//
//   arrivals          as many have to come in at each mbarrier as go out, or the import fails
//   multicast boxes   that some CTAs send and others only receive: each receiver issues the load itself, behind the arrival that
//                     expects its bytes, and each copy counts for one CTA
//
//   rank 0:  expect 48 KiB, A 16 KiB, B 32 KiB to both        rank 0:  expect 48 KiB, A 16 KiB, B 32 KiB multicast=2
//   rank 1:  expect 48 KiB, A 16 KiB                     ->   rank 1:  expect 48 KiB, B 32 KiB multicast=2, A 16 KiB
Expected<void> settle_cluster_signals(const std::string& file, const std::vector<Op>& ops, const LaunchFacts& launch,
                                      Exploration& found);

}  // namespace warpfold::sass
