#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::validation {

// Facts about a run that rows state in words, in dims_other and notes. Unset: not stated.
struct RowFacts {
  using Number = std::optional<double> RowFacts::*;

  // Clock and power. SM clocks in MHz, board power in W.
  std::optional<double> clock_mhz;      // locked, or read during the measurement
  std::optional<double> requested_mhz;  // requested; the power cap may allow less
  std::optional<double> idle_w;         // power of the idle board at clock_mhz
  std::optional<double> cap_w;          // power limit
  std::optional<double> board_w;        // read beside the row's figure: another result of the same run
  std::optional<double> zero_inputs;    // 1: operands are zeros, which take less power than random operands

  // Host and launch time in microseconds that the figure of a short kernel includes, or that bounds it from below.
  std::optional<double> host_us;

  // The launch: CTAs and threads by axis, registers per thread, bytes of shared memory per CTA.
  std::optional<double> grid_x, grid_y, grid_z;
  std::optional<double> block_x, block_y, block_z;
  std::optional<double> registers;
  std::optional<double> shared_bytes;
  std::optional<double> ctas_per_sm;
  std::optional<double> sms;  // SMs that the kernel may use

  // Two kernels beside each other.
  std::optional<double> chains;       // independent instructions per warp (ILP)
  std::optional<double> copied_kb;    // size of a CTA's region
  std::optional<double> reduce_ctas;  // CTAs of an all-reduce
  std::optional<double> alone_us;     // time of the same launch while no other kernel ran

  // NAME=VALUE, for names that readers of rows know. "deterministic" and "kernel" also come from phrases without an equals sign.
  // "launch beside" is the launch in "beside NAME grid=AxBxC block=DxExF".
  std::map<std::string, std::string, std::less<>> named;
};

// A phrase that set facts: text between two semicolons, or a member of a JSON object.
struct ReadPhrase {
  std::string text;
  std::vector<RowFacts::Number> numbers;
  std::vector<std::string> names;
};

struct RowPhrases {
  RowFacts facts;
  std::vector<ReadPhrase> read;
  std::vector<std::string> unread;       // neither a rule nor prose
  std::vector<std::string> contradicts;  // read, but another number than in an earlier phrase of the row
};

// Reads the phrases of dims_other, then those of notes; on a contradiction, the earlier phrase wins. Prose without an effect on the
// run (prose.txt) sets nothing.
RowPhrases read_phrases(std::string_view dims_other, std::string_view notes);

// Returns the phrase with its numbers replaced: "SM clock 1245 MHz" -> "SM clock # MHz". A report lists phrases of one form in one
// line.
std::string form_of(std::string_view phrase);

// A fact that a run must follow, with its name for display. Facts that mappers read as sizes of kernels are not included.
struct RunFact {
  std::string_view name;
  RowFacts::Number number = nullptr;
  std::string_view named{};  // name of an option, instead of a number
};
const std::vector<RunFact>& run_facts();

}  // namespace warpfold::validation
