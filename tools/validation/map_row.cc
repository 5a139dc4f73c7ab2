#include "tools/validation/map_row.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include "configs/check.h"
#include "configs/escape/quoted.h"
#include "configs/load.h"
#include "configs/settings.h"
#include "sim/power/power_model.h"
#include "tools/validation/gpu_names.h"

namespace warpfold::validation {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// Name of the workload's field, for example "hopper_gemm".
std::string workload_name(const configs::Kernel& kernel) {
  const auto* which = configs::Kernel::descriptor()->FindOneofByName("workload");
  return kernel.GetReflection()->GetOneofFieldDescriptor(kernel, which)->name();
}

Mapped<void> set_at(configs::Scenario& scenario, const std::string& prefix, const std::string& setting, const Diagnostic& place) {
  const size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0)
    return mistaken({place.file, place.line, place.column, "expected FIELD=VALUE, not " + escape::quoted(setting)});
  const std::string path = setting.substr(0, equals);
  const bool of_gpu = path.starts_with("gpu.");
  const auto set = configs::set_field(scenario, of_gpu ? path : prefix + path, setting.substr(equals + 1));
  if (!set) return mistaken({place.file, place.line, place.column, setting + ": " + set.error().message});
  return {};
}

// True for kernels with matrix products. The kernels before and after a backward pass are bound by DRAM, whatever the clock.
bool multiplies(const configs::Kernel& kernel) {
  const configs::AttentionPass pass = kernel.flash_attention_4().pass();
  return pass == configs::FORWARD || pass == configs::BACKWARD;
}

// A row that states its tile needs no library; the generator's defaults fill in the other fields.
bool states_tile(const std::vector<std::string>& words) {
  return std::ranges::any_of(words,
                             [](const std::string& word) { return word.starts_with("tile_m=") || word.starts_with("tile_n="); });
}
void take_as_stated(configs::Kernel& kernel) {
  if (kernel.has_blackwell_gemm()) {
    kernel.mutable_blackwell_gemm()->clear_tile();
    kernel.mutable_blackwell_gemm()->clear_library();
  }
  if (!kernel.has_hopper_gemm()) return;
  kernel.mutable_hopper_gemm()->clear_tile();
  kernel.mutable_hopper_gemm()->clear_library();
}

Mapped<void> check(const configs::Scenario& scenario) {
  if (const auto fault = configs::find_scenario_fault(scenario)) return not_mapped(fault->path + ": " + fault->message);
  if (const auto fault = configs::find_gpu_fault(scenario.gpu(), "gpu.")) return not_mapped(fault->path + ": " + fault->message);
  return {};
}

// True for rows of board power at a locked clock, or of the clock under the power cap.
bool is_power(const MeasuredRow& row) { return row.text("category") == "POWER"; }

// The highest clock of a row of board power: the requested clock, otherwise the measured clock. If the row's figure is itself a
// clock, it is the result and sets no limit.
std::optional<double> clock_limit_of(const MeasuredRow& row) {
  if (const auto column = row.number("clock_mhz")) return column;
  if (row.facts().requested_mhz) return row.facts().requested_mhz;
  return row.text("unit") == "MHz" ? std::nullopt : row.facts().clock_mhz;
}

// Scales the static power of every point by one factor, so that the idle board takes the row's idle power at its clock.
void scale_idle(double idle_w, double clock_mhz, configs::Power& power) {
  const double factor = idle_w / sim::PowerModel(power).static_watts(clock_mhz);
  for (configs::OperatingPoint& point : *power.mutable_point()) point.set_static_w(point.static_w() * factor);
}

// Applies the facts that the GPU can follow. The clock has been set before.
Mapped<void> follow_facts(const MeasuredRow& row, configs::Gpu& gpu, FollowedFacts& follows) {
  const RowFacts& facts = row.facts();
  const bool has_model = gpu.power().gpu() == gpu.name() && gpu.power().point_size() > 0;
  const bool under_cap = gpu.clock() == configs::POWER;
  follows.emplace("clock");
  if (facts.clock_mhz || is_power(row)) follows.emplace("requested clock");
  if (!under_cap) follows.insert({"idle power", "power limit", "zero operands"});  // power changes nothing at a fixed clock
  if (under_cap && has_model && facts.idle_w && facts.clock_mhz) {
    scale_idle(*facts.idle_w, *facts.clock_mhz, *gpu.mutable_power());
    follows.emplace("idle power");
  }
  if (under_cap && has_model && facts.cap_w) {
    gpu.mutable_power()->set_cap_w(*facts.cap_w);
    follows.emplace("power limit");
  }
  if (!facts.sms) return {};
  if (*facts.sms < 1 || *facts.sms > gpu.sm_count() || *facts.sms != std::floor(*facts.sms))
    return not_mapped("dims_other: SMs: expected a whole number from 1 to the GPU's " + std::to_string(gpu.sm_count()));
  gpu.set_sm_count(static_cast<uint32_t>(*facts.sms));
  follows.emplace("SMs");
  return {};
}

// The kernel whose power was measured, read as in a row of its own category.
Mapped<RowWork> power_work_of(const MeasuredRow& row, const configs::Gpu& gpu) {
  const std::string& kernel = row.text("kernel");
  if (row.text("impl") == "idle") return not_mapped("the board was idle: no kernel ran");
  if (kernel.starts_with("attention")) return attention_of_row(row, gpu);
  if (kernel.starts_with("pass")) return memory_of_row(row);
  return gemm_of_row(row, gpu);
}

Mapped<RowWork> work_of(const MeasuredRow& row, const configs::Gpu& gpu, const std::string& operators) {
  if (!row.text("kernel_file").empty()) return kernel_file_of_row(row);
  if (is_replaced_product(row)) return replaced_products_of_row(row, gpu, fs::path(operators).parent_path().string());
  if (is_micro_row(row)) return micro_of_row(row, gpu);
  const std::string& category = row.text("category");
  if (category == "GEMM") return gemm_of_row(row, gpu);
  if (category == "ATTN" && row.text("kernel") == "attention decode") return decode_of_row(row, gpu);
  if (category == "ATTN") return by_torch(row) ? torch_attention_of_row(row, gpu, operators) : attention_of_row(row, gpu);
  if (category == "DROPOUT" && row.text("kernel").starts_with("attention")) return attention_of_row(row, gpu);
  if (category == "DECODE") return decode_of_row(row, gpu);
  if (category == "RNG") return philox_of_row(row);
  if (category == "MEM" && row.option("operation").empty()) return operator_of_row(row, gpu, operators);
  if (category == "MEM") return memory_of_row(row);
  if (is_power(row)) return power_work_of(row, gpu);
  return not_mapped("no generator for rows of " + category + "; name its kernel_file or scenario");
}

void put_before(const std::vector<configs::Kernel>& before, const std::string& name, Run& run, Comparison& comparison) {
  for (auto kernel = before.rbegin(); kernel != before.rend(); ++kernel) put_first(*kernel, run.scenario);
  if (!before.empty()) comparison.of = name;
}

// Phrases that state a fact about the run that no part of the comparison follows.
std::vector<std::string> unfollowed_phrases(const MeasuredRow& row, const FollowedFacts& follows) {
  std::vector<std::string> phrases;
  for (const ReadPhrase& phrase : row.phrases().read) {
    const bool states = std::ranges::any_of(run_facts(), [&](const RunFact& fact) {
      if (follows.contains(fact.name)) return false;
      return fact.number != nullptr ? std::ranges::find(phrase.numbers, fact.number) != phrase.numbers.end()
                                    : std::ranges::find(phrase.names, fact.named) != phrase.names.end();
    });
    if (states) phrases.push_back(phrase.text);
  }
  return phrases;
}

}  // namespace

double rate_of(double work, const std::string& unit, double us) { return work / (us * (unit == "TFLOPS" ? 1e6 : 1e3)); }

Mapped<void> fill_from_options(const MeasuredRow& row, google::protobuf::Message& message, std::string& shape) {
  const google::protobuf::Descriptor& fields = *message.GetDescriptor();
  for (int f = 0; f < fields.field_count(); ++f) {
    const std::string& name = fields.field(f)->name();
    const std::string value = row.option(name);
    if (value.empty()) continue;
    if (const auto set = configs::set_field(message, name, value); !set) return not_mapped("dims_other: " + set.error().message);
    shape.append(shape.empty() ? "" : " ").append(name).append("=").append(value);
  }
  return {};
}

std::string RowMapper::gpu_path(const std::string& name) const { return (fs::path(gpus_) / (name + ".textproto")).string(); }

Mapped<configs::Gpu> RowMapper::gpu_of(const MeasuredRow& row) {
  const auto file = gpu_file_of(row.text("gpu"));
  if (!file) return not_mapped("no GPU file for " + row.text("gpu"));
  if (!known_.contains(*file)) {
    auto gpu = configs::load_gpu(gpu_path(*file));
    if (!gpu && !fs::exists(gpu_path(*file))) return mistaken(row.problem("gpu", gpu.error().message));
    if (!gpu) return mistaken(gpu.error());
    known_.emplace(*file, std::move(*gpu));
  }
  return known_.at(*file);
}

Mapped<void> RowMapper::apply_settings(const MeasuredRow& row, configs::Scenario& scenario, FollowedFacts& follows) const {
  if (is_power(row)) {
    scenario.mutable_gpu()->set_clock(configs::POWER);
    if (const auto limit = clock_limit_of(row)) scenario.mutable_gpu()->mutable_power()->set_clock_limit_mhz(*limit);
  } else if (const auto clock = row.clock_mhz()) {
    scenario.mutable_gpu()->set_clock_mhz(static_cast<uint32_t>(*clock + 0.5));
  }
  if (auto followed = follow_facts(row, *scenario.mutable_gpu(), follows); !followed) return followed;
  for (const std::string& setting : settings_) {
    if (auto set = set_at(scenario, "", setting, {"--set", 0, 0, {}}); !set) return set;
  }
  return {};
}

Mapped<Run> RowMapper::run_of(const MeasuredRow& row, const configs::Gpu& gpu, const RowWork& work, const configs::Kernel& kernel,
                              const std::vector<std::string>& columns, FollowedFacts& follows) const {
  Run run;
  run.file = row.file();
  run.scenario.set_name("validation");
  *run.scenario.mutable_gpu() = gpu;
  *run.scenario.add_kernel() = kernel;
  run.scenario.mutable_policy()->set_kind(configs::SEQUENTIAL);
  if (work.clock_mhz > 0) run.scenario.mutable_gpu()->set_clock_mhz(work.clock_mhz);
  if (work.under_cap && multiplies(kernel)) run.scenario.mutable_gpu()->set_clock(configs::POWER);
  for (const std::string& setting : work.settings) {
    if (auto set = set_at(run.scenario, "", setting, row.problem("id", {})); !set) return std::unexpected(set.error());
  }
  const std::string prefix = "kernel[0]." + workload_name(kernel) + ".";
  for (const std::string& column : columns) {
    const std::vector<std::string> words = words_of(row.text(column));
    if (states_tile(words)) take_as_stated(*run.scenario.mutable_kernel(0));
    for (const std::string& word : words) {
      if (auto set = set_at(run.scenario, prefix, word, row.problem(column, {})); !set) return std::unexpected(set.error());
    }
  }
  configs::Kernel& set = *run.scenario.mutable_kernel(0);
  if (set.has_hopper_gemm() && set.hopper_gemm().tile() != configs::AUTO) put_few_rows_in_columns(*set.mutable_hopper_gemm());
  if (auto stated = expect_dropout_stated(row, set); !stated) return std::unexpected(stated.error());
  if (row.option("l2") == "warm" && !follows.contains("state of L2")) set.set_l2(configs::WARM);
  follows.emplace("state of L2");
  if (auto applied = apply_settings(row, run.scenario, follows); !applied) return std::unexpected(applied.error());
  return run;
}

Mapped<Comparison> RowMapper::map_kernels(const MeasuredRow& row, const configs::Gpu& gpu) {
  auto work = work_of(row, gpu, (fs::path(gpus_).parent_path() / "kernels" / "operators").string());
  if (!work) return std::unexpected(work.error());
  if (const std::string l2 = row.option("l2"); !l2.empty() && l2 != "warm" && l2 != "cold")
    return not_mapped("dims_other: l2=" + l2 + "; expected l2=warm or l2=cold");
  Comparison comparison{.family = work->family,
                        .kernel = work->kernel,
                        .shape = work->shape,
                        .runs = {},
                        .launches_us = 0,
                        .of = {},
                        .beside = {},
                        .work = work->work,
                        .rate_unit = work->rate_unit,
                        .relative = work->relative,
                        .follows = work->follows,
                        .unfollowed = {}};
  const bool ratio = !row.text("over_set").empty() || !work->without.empty();
  for (size_t k = 0; k < work->kernels.size(); ++k) {
    auto run = run_of(row, gpu, *work, work->kernels[k], {"set"}, comparison.follows);
    if (!run) return std::unexpected(run.error());
    if (!work->before.empty()) put_before(work->before[k], work->kernels[k].name(), *run, comparison);
    if (auto checked = check(run->scenario); !checked) return std::unexpected(checked.error());
    comparison.runs.push_back(std::move(*run));
  }
  if (is_power(row)) return measured_power(row, std::move(comparison));
  if (!ratio) {
    const auto stated = timing_of_row(row, work->timing);
    if (!stated) return std::unexpected(stated.error());
    const RowTiming timing = *stated;
    comparison.follows.insert({"timer", "cleared L2"});
    if (auto flushed = flush_before(timing, *work, comparison); !flushed) return std::unexpected(flushed.error());
    for (const configs::Kernel& kernel : work->around) {
      auto run = run_of(row, gpu, *work, kernel, {}, comparison.follows);
      if (!run) return std::unexpected(run.error());
      comparison.runs.push_back(std::move(*run));
    }
    const configs::Gpu& simulated = comparison.runs.front().scenario.gpu();
    const auto us = measured_us(row, *work, simulated.clock_mhz());
    if (!us) return std::unexpected(us.error());
    comparison.measured = *us * work->calls;
    const double launch_us = (timing.timer == Timer::kGraph ? simulated.graph_launch_cycles() : simulated.kernel_launch_cycles()) /
                             simulated.clock_mhz();
    const size_t gaps = work->launches || work->gaps ? comparison.runs.size() - 1 : 0;
    const auto first_us = timing.timer == Timer::kEvents ? events_us(simulated) : Mapped<double>(work->launches ? launch_us : 0);
    if (!first_us) return std::unexpected(first_us.error());
    comparison.launches_us = timing.timer == Timer::kProfiler
                                 ? static_cast<double>(comparison.runs.size()) * start_and_end_us(simulated)
                                 : *first_us + static_cast<double>(gaps) * launch_us;
    return comparison;
  }
  if (work->kernels.size() != 1) return not_mapped("a ratio of rows with several kernels");
  auto over = work->without.empty() ? run_of(row, gpu, *work, work->kernels.front(), {"set", "over_set"}, comparison.follows)
                                    : run_of(row, gpu, *work, work->without.front(), {}, comparison.follows);
  if (!over) return std::unexpected(over.error());
  if (auto checked = check(over->scenario); !checked) return std::unexpected(checked.error());
  comparison.runs.push_back(std::move(*over));
  comparison.quantity = Quantity::kTimeRatio;
  const double value = row.number("value").value_or(0);
  comparison.measured = row.text("unit") == "%" ? 1 + value / 100 : value;
  return comparison;
}

Mapped<Run> RowMapper::load(const MeasuredRow& row, const std::string& scenario_column, const std::vector<std::string>& columns,
                            FollowedFacts& follows) const {
  Run run;
  run.file = (fs::path(row.file()).parent_path() / row.text(scenario_column)).lexically_normal().string();
  std::vector<std::string> settings;
  if (const auto gpu = gpu_file_of(row.text("gpu"))) settings.push_back("gpu_file=" + fs::absolute(gpu_path(*gpu)).string());
  for (const std::string& column : columns) {
    for (std::string& word : words_of(row.text(column))) settings.push_back(std::move(word));
  }
  auto scenario = configs::load_scenario(run.file, settings);
  if (!scenario) return mistaken(row.problem(fs::exists(run.file) ? columns.back() : scenario_column, scenario.error().text()));
  run.scenario = std::move(*scenario);
  if (auto applied = apply_settings(row, run.scenario, follows); !applied) return std::unexpected(applied.error());
  return run;
}

// Maps a row with a scenario file: kernels beside each other, or any other measured scenario.
Mapped<Comparison> RowMapper::map_scenario(const MeasuredRow& row) {
  Comparison comparison;
  auto run = load(row, "scenario", {"set"}, comparison.follows);
  if (!run) return std::unexpected(run.error());
  if (auto checked = check(run->scenario); !checked) return std::unexpected(checked.error());
  comparison.family = row.text("category") == "CORUN" ? "co-run" : "scenario";
  comparison.kernel = row.text("kernel").empty() ? run->scenario.name() : row.text("kernel");
  comparison.shape = run->scenario.name();
  comparison.of = row.text("of");
  comparison.beside = row.option("beside");
  const double clock_mhz = run->scenario.gpu().clock_mhz();
  comparison.runs.push_back(std::move(*run));
  const bool other = !row.text("over_scenario").empty();
  if (other || !row.text("over_set").empty()) {
    auto over = other ? load(row, "over_scenario", {"over_set"}, comparison.follows)
                      : load(row, "scenario", {"set", "over_set"}, comparison.follows);
    if (!over) return std::unexpected(over.error());
    if (auto checked = check(over->scenario); !checked) return std::unexpected(checked.error());
    comparison.runs.push_back(std::move(*over));
    comparison.quantity = Quantity::kTimeRatio;
  } else if (row.text("metric").find("slowdown") != std::string::npos) {
    if (comparison.of.empty()) return mistaken(row.problem("of", "a slowdown is of a kernel: its name is missing"));
    comparison.quantity = Quantity::kSlowdown;
  }
  if (comparison.quantity != Quantity::kTime) {
    comparison.measured = row.number("value").value_or(0);
    if (row.text("unit") != "x") return not_mapped("a ratio in " + escape::quoted(row.text("unit")) + ", expected x");
    return comparison;
  }
  const auto us = measured_us(row, {}, clock_mhz);
  if (!us) return std::unexpected(us.error());
  comparison.measured = *us;
  return comparison;
}

Mapped<Comparison> RowMapper::map_pair(const MeasuredRow& row, const configs::Gpu& gpu) {
  auto pair = pair_of_row(row, gpu);
  if (!pair) return std::unexpected(pair.error());
  Comparison comparison;
  comparison.family = "co-run";
  comparison.kernel = pair->kernel;
  comparison.shape = pair->shape;
  comparison.follows = pair->follows;
  for (configs::Scenario& scenario : pair->runs) {
    Run run{.scenario = std::move(scenario), .file = gpu_path(gpu_file_of(row.text("gpu")).value_or(row.text("gpu")))};
    run.scenario.set_name("validation");
    *run.scenario.mutable_gpu() = gpu;
    if (pair->clock_mhz > 0) run.scenario.mutable_gpu()->set_clock_mhz(pair->clock_mhz);
    if (auto applied = apply_settings(row, run.scenario, comparison.follows); !applied) return std::unexpected(applied.error());
    if (auto checked = check(run.scenario); !checked) return std::unexpected(checked.error());
    comparison.runs.push_back(std::move(run));
  }
  const auto us = measured_us(row, {}, comparison.runs.front().scenario.gpu().clock_mhz());
  if (!us) return std::unexpected(us.error());
  comparison.measured = *us;
  return comparison;
}

Mapped<Comparison> RowMapper::map(const MeasuredRow& row, const configs::Gpu& gpu) {
  if (!row.has_figure()) return not_mapped("the figure " + escape::quoted(row.text("value")) + " is no single positive number");
  const bool kernels = !row.text("kernel_file").empty() || !row.text("scenario").empty();
  auto comparison = row.text("category") == "CORUN" && !kernels ? map_pair(row, gpu)
                    : row.text("scenario").empty()              ? map_kernels(row, gpu)
                                                                : map_scenario(row);
  if (comparison) comparison->unfollowed = unfollowed_phrases(row, comparison->follows);
  return comparison;
}

Mapped<Comparison> RowMapper::map_run(const MeasuredRow& row, Comparison comparison) const {
  if (!row.has_figure()) return not_mapped("the figure " + escape::quoted(row.text("value")) + " is no single positive number");
  configs::Scenario& scenario = comparison.runs.front().scenario;
  if (auto applied = apply_settings(row, scenario, comparison.follows); !applied) return std::unexpected(applied.error());
  if (auto checked = check(scenario); !checked) return std::unexpected(checked.error());
  const auto us = measured_us(row, {}, scenario.gpu().clock_mhz());
  if (!us) return std::unexpected(us.error());
  comparison.measured = *us;
  comparison.unfollowed = unfollowed_phrases(row, comparison.follows);
  return comparison;
}

Mapped<Comparison> RowMapper::map(const MeasuredRow& row) {
  const auto gpu = gpu_of(row);
  if (!gpu) return std::unexpected(gpu.error());
  return map(row, *gpu);
}

}  // namespace warpfold::validation
