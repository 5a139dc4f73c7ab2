#include "tools/validation/row_facts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>
#include <unordered_set>

#include "configs/embedded_file.h"
#include "configs/scenario.pb.h"

namespace warpfold {
std::span<const EmbeddedFile> prose_files();  // generated from prose.txt
}

namespace warpfold::validation {
namespace {

using Number = RowFacts::Number;
using F = RowFacts;

// The facts that the numbers of a form set, in order; nullptr: none.
struct NumberRule {
  std::string_view form;
  std::array<Number, 8> sets{};
  double scale = 1;
};

constexpr std::array kNumberRules{
    // The clock. Some sources give only the lowest clock under a power cap, and the run takes it; mean clocks are up to 5 % higher
    // (tests/validation/power).
    NumberRule{"SM clock # MHz", {&F::clock_mhz}},
    NumberRule{"SM clock # MHz pinned", {&F::clock_mhz}},
    NumberRule{"SM clock # MHz (power capped)", {&F::clock_mhz}},
    NumberRule{"clock # MHz", {&F::clock_mhz}},
    NumberRule{"clock locked # MHz", {&F::clock_mhz}},
    NumberRule{"locked clock # MHz", {&F::clock_mhz}},
    NumberRule{"locked clock # MHz (# requested, throttled)", {&F::clock_mhz, &F::requested_mhz}},
    NumberRule{"# MHz asked for, # taken", {&F::requested_mhz, &F::clock_mhz}},
    NumberRule{"app clocks #/# MHz set, residency not proven", {&F::clock_mhz, nullptr}},  // SM clock, memory clock
    NumberRule{"median clock=# MHz", {&F::clock_mhz}},
    NumberRule{"min clock # MHz", {&F::clock_mhz}},
    NumberRule{"governor-chosen minimum SM clock # MHz", {&F::clock_mhz}},
    NumberRule{"# MHz", {&F::clock_mhz}},
    NumberRule{"at # MHz", {&F::clock_mhz}},
    NumberRule{"MHz=#", {&F::clock_mhz}},
    NumberRule{"one warp only, # MHz: issue limits dominate", {&F::clock_mhz}},
    NumberRule{"achieved # GB/s at SM clock # MHz", {nullptr, &F::clock_mhz}},
    NumberRule{"the ground-truth file of the same day says # MHz", {&F::clock_mhz}},
    NumberRule{"another summary of the repository says # MHz)", {&F::clock_mhz}},
    NumberRule{"authors plot against # MHz", {&F::clock_mhz}},
    NumberRule{"ncu SM clock # GHz", {&F::clock_mhz}, 1e3},
    NumberRule{"SM clock requested=# MHz", {&F::requested_mhz}},
    NumberRule{"GEMM alone, # MHz requested", {&F::requested_mhz}},
    NumberRule{"board # W, SM clock # MHz", {&F::board_w, &F::clock_mhz}},
    NumberRule{"board # W, SM clock # MHz (power capped)", {&F::board_w, &F::clock_mhz}},
    // Power.
    NumberRule{"idle # W", {&F::idle_w}},
    NumberRule{"idle at that clock # W", {&F::idle_w}},
    NumberRule{"power limit # W", {&F::cap_w}},
    NumberRule{"per-GPU power # W (# W cap)", {&F::board_w, &F::cap_w}},
    NumberRule{"per-GPU power # W", {&F::board_w}},
    NumberRule{"power # W", {&F::board_w}},
    NumberRule{"board # W", {&F::board_w}},
    NumberRule{"board power # W", {&F::board_w}},
    NumberRule{"board power # W (p_poll)", {&F::board_w}},
    NumberRule{"# W", {&F::board_w}},
    NumberRule{"W(max)=#", {&F::board_w}},
    // Time.
    NumberRule{"wall time per iteration with a host sync each (about # us in every mode)", {&F::host_us}},
    NumberRule{"floor about # us = launch and host overhead", {&F::host_us}},
    NumberRule{"one sequence: latency floor # us", {&F::host_us}},
    NumberRule{"latency floor of a small kernel on H#: #-# us in this harness", {nullptr, &F::host_us, nullptr}},
    // The launch.
    NumberRule{"grid=#", {&F::grid_x}},
    NumberRule{"grid=#x#", {&F::grid_x, &F::grid_y}},
    NumberRule{"grid=#x#x#", {&F::grid_x, &F::grid_y, &F::grid_z}},
    NumberRule{"grid (ncu) #", {&F::grid_x}},
    NumberRule{"block=#", {&F::block_x}},
    NumberRule{"block=#x#", {&F::block_x, &F::block_y}},
    NumberRule{"block=#x#x#", {&F::block_x, &F::block_y, &F::block_z}},
    NumberRule{"grid # block #x#x# registers # shared #",
               {&F::grid_x, &F::block_x, &F::block_y, &F::block_z, &F::registers, &F::shared_bytes}},
    NumberRule{"regs=#", {&F::registers}},
    NumberRule{"smem=#", {&F::shared_bytes}},
    NumberRule{"dynamic smem=# MB", {&F::shared_bytes}, 1e6},
    NumberRule{"# blocks", {&F::grid_x}},
    NumberRule{"# blocks x # thr each", {&F::grid_x, &F::block_x}},
    NumberRule{"# thr", {&F::block_x}},
    NumberRule{"threads=#", {&F::block_x}},
    NumberRule{"# threads per CTA", {&F::block_x}},
    NumberRule{"blockSize=#", {&F::block_x}},
    NumberRule{"threads_per_cta=#", {&F::block_x}},
    NumberRule{"blocks/SM=#", {&F::ctas_per_sm}},
    NumberRule{"CTAs/SM=#", {&F::ctas_per_sm}},
    NumberRule{"# CTAs/SM", {&F::ctas_per_sm}},
    NumberRule{"# block/SM each", {&F::ctas_per_sm}},
    NumberRule{"# blocks/SM each", {&F::ctas_per_sm}},
    NumberRule{"SMs=#", {&F::sms}},
    NumberRule{"SMs available=#", {&F::sms}},
    NumberRule{"# SMs", {&F::sms}},
    // Two kernels beside each other.
    NumberRule{"ILP #", {&F::chains}},
    NumberRule{"footprint # KB each per SM", {&F::copied_kb}},
    NumberRule{"footprint # KB/SM", {&F::copied_kb}},
    NumberRule{"footprint # MB each", {&F::copied_kb}, 1024},
    NumberRule{"footprint # MB", {&F::copied_kb}, 1024},
    NumberRule{"NCCL CTAs=#", {&F::reduce_ctas}},
    NumberRule{"alone_median=#(n=#)", {&F::alone_us, nullptr}},
};

// A phrase that is equivalent to other phrases. "triton do_bench" is one call between two events after 256 MB of zeros
// (triton/testing.py).
struct Alias {
  std::string_view form;
  std::string_view phrases;
};
constexpr std::array kAliases{
    Alias{"triton do_bench", "timer=events;flush_bytes=268435456"},
    Alias{"includes launch (CUDA events)", "timer=events"},
    Alias{"CUDA-graph replay", "timer=graph"},
    Alias{"CUDA-graph replay median of #", "timer=graph"},
    Alias{"CUPTI kernel duration", "timer=kernel"},
    Alias{"# iters, torch.profiler device time", "timer=kernel"},
    Alias{"torch # cu# profiler", "timer=kernel"},
    Alias{"layerwise CUDA kernel time, # iterations", "timer=kernel"},
    Alias{"hot cache", "l2=warm"},
    Alias{"deterministic", "deterministic=1"},
    Alias{"deterministic bwd", "deterministic=1"},
    Alias{"H=#, T=#", "H=#;T=#"},
    Alias{"tile K # stages #", "tile=#;stages=#"},
    Alias{"tile K #", "tile=#"},
};

// Names of NAME=VALUE that readers of rows know, in addition to the fields of configs.Elementwise and configs.Philox: sizes, and
// options of kernels.
constexpr std::array<std::string_view, 33> kNames{"timer",  "flush_bytes", "l2",     "beside",     "deterministic",
                                                  "groups", "M_per_group", "window", "head_dim_v", "q",
                                                  "M",      "N",           "H",      "V",          "B",
                                                  "T",      "S",           "dtype",  "eps",        "cta_group",
                                                  "depth",  "operands",    "stages", "tile",       "cluster",
                                                  "tokens", "rows",        "cols",   "kv",         "kv_len",
                                                  "op",     "dims",        "cast"};
// The same of micro-kernels (micro_of_row.cc).
constexpr std::array<std::string_view, 16> kMicroNames{"box",
                                                       "sharing",
                                                       "columns",
                                                       "buffer per CTA",
                                                       "block data",
                                                       "total data set",
                                                       "FMA per element",
                                                       "loads per thread",
                                                       "family",
                                                       "variant",
                                                       "warps",
                                                       "unroll",
                                                       "instructions per packet",
                                                       "stride",
                                                       "blockDim.x",
                                                       "pitch"};
// Sizes that profiles of layers state (vllm_row.cc, varlen_of_row.cc).
constexpr std::array<std::string_view, 9> kLayerNames{"TP",    "n_embd", "n_head", "n_kv",           "n_expanded",
                                                      "gated", "hidden", "world",  "kv before chunk"};
// A name that is followed by its value without an equals sign.
struct Prefix {
  std::string_view begins;
  std::string_view name;
};
constexpr std::array kPrefixes{Prefix{"shape ", "shape"}, Prefix{"F.linear randn -> ", "kernel"},
                               Prefix{"beside ", "launch beside"}};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

struct Form {
  std::string text;
  std::vector<std::string_view> numbers;
};

// Splits a phrase into its form and its numbers. A number is a digit and all digits and points after it.
Form taken_apart(std::string_view phrase) {
  Form form;
  for (size_t at = 0; at < phrase.size();) {
    if (!is_digit(phrase[at])) {
      form.text += phrase[at++];
      continue;
    }
    size_t end = at;
    while (end < phrase.size() && (is_digit(phrase[end]) || phrase[end] == '.')) ++end;
    form.numbers.push_back(phrase.substr(at, end - at));
    form.text += '#';
    at = end;
  }
  return form;
}

std::optional<double> number_of_text(std::string_view text) {
  double value = 0;
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc() ? std::optional(value) : std::nullopt;
}

// Lines of prose.txt: whole forms, and beginnings of phrases, which end with '*'.
struct Prose {
  std::unordered_set<std::string> forms;
  std::vector<std::string> begins;
};
const Prose& prose() {
  static const Prose known = [] {
    Prose read;
    std::string_view text = prose_files().front().content;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.empty() || line.starts_with("//")) continue;
      if (line.ends_with('*')) {
        read.begins.emplace_back(line.substr(0, line.size() - 1));
      } else {
        read.forms.emplace(line);
      }
    }
    return read;
  }();
  return known;
}

class Reader {
 public:
  void read(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find(';'), text.size());
      const std::string_view phrase = trimmed(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (phrase.starts_with('{') && phrase.ends_with('}')) {
        members(phrase.substr(1, phrase.size() - 2));
      } else if (!phrase.empty()) {
        take(phrase);
      }
    }
  }
  RowPhrases done() { return std::move(all_); }

 private:
  // Reads {"M": 4096, "dtype": "torch.float32"} as M=4096 and dtype=torch.float32.
  void members(std::string_view object) {
    while (!object.empty()) {
      const size_t end = std::min(object.find(", "), object.size());
      std::string member(trimmed(object.substr(0, end)));
      object.remove_prefix(std::min(end + 2, object.size()));
      std::erase(member, '"');
      if (const size_t colon = member.find(": "); colon != std::string::npos) member.replace(colon, 2, "=");
      take(member);
    }
  }

  void take(std::string_view phrase) {
    const Form form = taken_apart(phrase);
    if (prose().forms.contains(form.text)) return;
    bool known = take_numbers(phrase, form);
    known = take_named(phrase) || known;
    known = known || take_alias(phrase, form);
    if (known) return;
    if (std::ranges::none_of(prose().begins, [&](const auto& begin) { return form.text.starts_with(begin); }))
      all_.unread.emplace_back(phrase);
  }

  bool take_numbers(std::string_view phrase, const Form& form) {
    const auto* const rule = std::ranges::find(kNumberRules, form.text, &NumberRule::form);
    if (rule == kNumberRules.end()) return false;
    ReadPhrase read{.text = std::string(phrase), .numbers = {}, .names = {}};
    bool contradicts = false;
    for (size_t n = 0; n < form.numbers.size(); ++n) {
      const auto value = number_of_text(form.numbers[n]);
      if (rule->sets[n] == nullptr || !value) continue;
      std::optional<double>& fact = all_.facts.*rule->sets[n];
      contradicts = contradicts || (fact && *fact != *value * rule->scale);
      if (!fact) fact = *value * rule->scale;
      read.numbers.push_back(rule->sets[n]);
    }
    if (contradicts) all_.contradicts.push_back(read.text);
    all_.read.push_back(std::move(read));
    return true;
  }

  bool set(std::string_view name, std::string_view value, std::string_view phrase) {
    if (const auto known = all_.facts.named.find(name); known != all_.facts.named.end()) {
      if (known->second != value) all_.contradicts.emplace_back(phrase);
    } else {
      all_.facts.named.emplace(name, value);
    }
    all_.read.push_back({.text = std::string(phrase), .numbers = {}, .names = {std::string(name)}});
    return true;
  }

  bool take_named(std::string_view phrase) {
    if (phrase == "zero inputs") {
      all_.facts.zero_inputs = 1;
      all_.read.push_back({.text = std::string(phrase), .numbers = {&F::zero_inputs}, .names = {}});
      return true;
    }
    for (const Prefix& prefix : kPrefixes) {
      if (phrase.starts_with(prefix.begins)) return set(prefix.name, phrase.substr(prefix.begins.size()), phrase);
    }
    const size_t equals = phrase.find('=');
    if (equals == std::string_view::npos || equals + 1 == phrase.size()) return false;
    const std::string_view name = phrase.substr(0, equals);
    const bool is_field = configs::Elementwise::descriptor()->FindFieldByName(std::string(name)) != nullptr ||
                          configs::Philox::descriptor()->FindFieldByName(std::string(name)) != nullptr;
    const bool is_name = std::ranges::find(kNames, name) != kNames.end() ||
                         std::ranges::find(kMicroNames, name) != kMicroNames.end() ||
                         std::ranges::find(kLayerNames, name) != kLayerNames.end();
    if (!is_field && !is_name) return false;
    return set(name, phrase.substr(equals + 1), phrase);
  }

  bool take_alias(std::string_view phrase, const Form& form) {
    const auto* const alias = std::ranges::find(kAliases, form.text, &Alias::form);
    if (alias == kAliases.end()) return false;
    std::string says;
    size_t number = 0;
    for (const char c : alias->phrases) says += c == '#' ? std::string(form.numbers[number++]) : std::string(1, c);
    const size_t before = all_.read.size();
    read(says);
    for (size_t r = before; r < all_.read.size(); ++r) all_.read[r].text = phrase;
    return true;
  }

  RowPhrases all_;
};

}  // namespace

RowPhrases read_phrases(std::string_view dims_other, std::string_view notes) {
  Reader reader;
  reader.read(dims_other);
  reader.read(notes);
  return reader.done();
}

std::string form_of(std::string_view phrase) { return taken_apart(phrase).text; }

const std::vector<RunFact>& run_facts() {
  static const std::vector<RunFact> facts{{"clock", &F::clock_mhz},
                                          {"requested clock", &F::requested_mhz},
                                          {"idle power", &F::idle_w},
                                          {"power limit", &F::cap_w},
                                          {"zero operands", &F::zero_inputs},
                                          {"host time", &F::host_us},
                                          {"grid", &F::grid_x},
                                          {"block", &F::block_x},
                                          {"registers", &F::registers},
                                          {"shared memory", &F::shared_bytes},
                                          {"CTAs an SM", &F::ctas_per_sm},
                                          {"SMs", &F::sms},
                                          {"timer", nullptr, "timer"},
                                          {"cleared L2", nullptr, "flush_bytes"},
                                          {"state of L2", nullptr, "l2"},
                                          {"kernel", nullptr, "kernel"},
                                          {"tile", nullptr, "tile"},
                                          {"stages", nullptr, "stages"},
                                          {"time alone", &F::alone_us},
                                          {"launch beside", nullptr, "launch beside"}};
  return facts;
}

}  // namespace warpfold::validation
