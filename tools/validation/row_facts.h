#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::validation {

// Facts about a run that rows state in words, in dims_other and notes. Unset: the row does not say.
struct RowFacts {
  using Number = std::optional<double> RowFacts::*;

  // Clock and power. SM clocks in MHz, board power in W.
  std::optional<double> clock_mhz;      // held, or read while measuring
  std::optional<double> requested_mhz;  // asked for; the cap may leave less
  std::optional<double> idle_w;         // idle board at clock_mhz
  std::optional<double> cap_w;          // power limit
  std::optional<double> board_w;        // read beside the row's figure: another figure of the same run
  std::optional<double> zero_inputs;    // 1: operands are zeros, which take less power than random ones

  // Time of the host and of launches that a figure of a short kernel holds or is at least, in microseconds.
  std::optional<double> host_us;

  // The launch: CTAs and threads by axis, registers of a thread, bytes of shared memory of a CTA.
  std::optional<double> grid_x, grid_y, grid_z;
  std::optional<double> block_x, block_y, block_z;
  std::optional<double> registers;
  std::optional<double> shared_bytes;
  std::optional<double> ctas_per_sm;
  std::optional<double> sms;  // that the kernel may use

  // Two kernels beside each other.
  std::optional<double> chains;       // independent instructions of a warp (ILP)
  std::optional<double> copied_kb;    // of a CTA's region
  std::optional<double> reduce_ctas;  // of an all-reduce

  // NAME=VALUE, of names that a reader of rows knows; "deterministic" and "kernel" have a value of their own.
  std::map<std::string, std::string, std::less<>> named;
};

// A phrase that set facts: between two semicolons, or a member of a JSON object.
struct ReadPhrase {
  std::string text;
  std::vector<RowFacts::Number> numbers;
  std::vector<std::string> names;
};

struct RowPhrases {
  RowFacts facts;
  std::vector<ReadPhrase> read;
  std::vector<std::string> unread;       // no rule, no prose
  std::vector<std::string> contradicts;  // read, but an earlier phrase of the row says another number
};

// Reads the phrases of dims_other, then those of notes; an earlier phrase wins. Prose without an effect on the run (prose.txt) sets
// nothing.
RowPhrases read_phrases(std::string_view dims_other, std::string_view notes);

// The phrase with its numbers replaced: "SM clock 1245 MHz" -> "SM clock # MHz". Phrases of one form are one line of a report.
std::string form_of(std::string_view phrase);

// A fact that a run has to follow, with its name for people; facts that mappers read as sizes of their kernels are not among them.
struct RunFact {
  std::string_view name;
  RowFacts::Number number = nullptr;
  std::string_view named{};  // instead of a number
};
const std::vector<RunFact>& run_facts();

}  // namespace warpfold::validation
