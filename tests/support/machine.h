#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "configs/gpu.pb.h"
#include "sim/gpu/simulate.h"
#include "traces/kernel.h"

// Small machines for tests: kernels written line by line with explicit control codes, their replay on one SM, and the
// cycles in which each warp issued.
namespace warpfold::test {

// Control code of an instruction. A dependence counter of -1 means none.
struct Control {
  int stall = 1;
  bool yield = false;
  int write = -1;              // dependence counter released when the result is written
  int read = -1;               // dependence counter released when the sources have been read
  std::vector<int> wait = {};  // dependence counters waited for
};

using Lines = std::vector<std::string>;

// Concatenates the pieces. (g++ 12 warns wrongly about `"..." + string`.)
std::string text(std::initializer_list<std::string_view> pieces);

// Makes the name of a parameterised test from `what`: letters, digits and single underscores.
std::string test_name(std::string_view what);

// Writes one instruction in the text form: op("LDS R4, [R2]", {.stall = 2, .write = 0}). `effect`: its effects, such as
// "bytes=512". Global accesses without effects hit L1.
std::string op(std::string_view instruction, const Control& control = {}, std::string_view effect = "");
Lines repeat(int times, const Lines& lines);
Lines loop(uint64_t trips, const Lines& lines);
Lines loop(std::string_view trips, const Lines& lines);  // `trips`: name of a parameter
Lines join(Lines lines, const Lines& more);
// Writes `count` instructions with three random source registers each. The three are never all of one bank, which
// register allocation avoids.
Lines three_fresh(std::string_view mnemonic, int count);

// A kernel in the text form of traces/trace_file.h. Appends an EXIT to every role.
class KernelText {
 public:
  KernelText(std::string name, std::string architecture) : name_(std::move(name)), architecture_(std::move(architecture)) {}

  KernelText& options(std::string_view options);  // "registers=64 shared_memory=1024"
  KernelText& declare(std::string_view line);     // "ring full depth=2 arrivals=1"
  KernelText& ctas(uint64_t count);
  KernelText& classes(std::string_view lines);  // instead of ctas(): "parameter t\nclass a t=3\ngrid a*8\n"
  KernelText& role(const std::string& name, uint32_t warps, const Lines& lines);

  // Parses and validates the text. Throws if it is wrong, which is a fault of the test.
  traces::Kernel kernel() const;

 private:
  std::string name_;
  std::string architecture_;
  std::string options_;
  std::string declarations_;
  std::string roles_;
  std::string classes_;
  uint64_t ctas_ = 1;
};

// Makes a kernel of one CTA whose warps all run on sub-core 0: warp i runs warps[i]. The warps on other sub-cores exit
// at once.
traces::Kernel on_one_sub_core(const std::string& architecture, const std::vector<Lines>& warps,
                               const std::string& name = "kernel");
// Makes a kernel of one CTA of `warps` warps that run the same lines, spread over the sub-cores.
traces::Kernel on_all_sub_cores(const std::string& architecture, uint32_t warps, const Lines& lines,
                                const std::string& name = "kernel");

// Returns a GPU of configs/gpus, such as "rtx_a6000", with one SM and without launch delays.
configs::Gpu one_sm(const std::string& name);
// Returns the same with issue policy CGGTY, which prefers the youngest warp.
configs::Gpu one_sm_youngest_first(const std::string& name);

struct Replay {
  sim::Outcome outcome;
  std::vector<std::vector<std::vector<uint64_t>>> issues;  // [launch][warp][n]: cycle, warps in order of their start

  const std::vector<uint64_t>& warp(size_t index, size_t launch = 0) const { return issues.at(launch).at(index); }
  uint64_t busy(std::string_view resource) const;
  uint64_t ledger(size_t victim, size_t culprit, sim::Contended resource) const {
    return outcome.ledger.at(victim).at(culprit).at(static_cast<size_t>(resource));
  }
  uint64_t state(size_t launch, sim::WarpState state) const {
    return outcome.kernels.at(launch).states.at(static_cast<size_t>(state));
  }
};

sim::Launch launch(const traces::Kernel& kernel, int stream = 0);
// Returns the outcome of simulate(). Throws on an error.
sim::Outcome outcome(const configs::Gpu& gpu, const std::vector<sim::Launch>& launches, const sim::Options& options);
// Replays every instruction. Throws on an error of simulate(), but not on a deadlock.
Replay replay(const configs::Gpu& gpu, const std::vector<sim::Launch>& launches, bool serialise = false);
Replay replay(const configs::Gpu& gpu, const traces::Kernel& kernel);
// Replays the kernels side by side, each in a stream of its own.
Replay replay_together(const configs::Gpu& gpu, const std::vector<traces::Kernel>& kernels);

// Returns the cycles per warp instruction of one sub-core in steady state, while `warps` warps repeat `lines`. The
// difference of two runs removes start and end.
double cycles_per_instruction(const configs::Gpu& gpu, const Lines& lines, int warps = 8);

}  // namespace warpfold::test
