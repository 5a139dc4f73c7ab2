#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "configs/load.h"
#include "sim/gpu/simulate.h"
#include "traces/import/import.h"
#include "traces/import/warp.h"

namespace warpfold::sass {

// NAME from the top, or in tests/import/data where it has no folder.
std::string data_file(const std::string& name);

// The listing and the launch description of tests/import/data, with settings as --set has them.
Expected<Imported> import_files(const std::string& listing, const std::string& launch,
                                const std::vector<std::string>& settings = {}, const access::CachesFor& caches = {});

// A function of these lines, launched with `launch` in text form.
Expected<Imported> import_lines(const std::string& lines, const std::string& launch, const ImportOptions& options = {});
// Returns the message of an import that must fail.
std::string message_of(const Expected<Imported>& imported);

// Instructions that one warp in a CTA of the class issues of `body`, and that the whole launch issues, by mnemonic.
std::map<std::string, uint64_t> counts_of(const std::vector<traces::Node>& body, const traces::CtaClass& cta_class);
std::map<std::string, uint64_t> counts_of(const traces::Kernel& kernel);

// Each kernel in a stream of its own, CONCURRENT.
sim::Outcome simulated(const std::vector<const traces::Kernel*>& kernels, const configs::Gpu& gpu);

// In cycles, alone.
double time_of(const traces::Kernel& kernel, const configs::Gpu& gpu);

configs::Gpu a100();
// The workload in text form, "ampere_gemm { m: 4096 n: 4096 k: 4096 }", for the A100.
traces::Kernel generated(const std::string& workload);

// Executes the lines, in which the lanes of R0 have `r0`, R1 `r1`, R2 `r2`, one after the other in one warp of CTA `cta`,
// each in the lanes of its guard.
struct Executed {
  std::vector<Op> ops;
  Listing listing;
  LaunchFacts launch;
  std::vector<Warp> warp;  // one
  const Word& reg(size_t number) const { return warp.front().state.registers.at(number); }
  const Bits& predicate(size_t number) const { return warp.front().state.predicates.at(number); }
};
std::unique_ptr<Executed> execute_lines(const std::string& lines, const std::vector<uint32_t>& registers, uint32_t cta = 0,
                                        uint32_t ctas = 1000);

}  // namespace warpfold::sass
