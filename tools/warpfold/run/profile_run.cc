#include "tools/warpfold/run/profile_run.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/load.h"
#include "configs/search_path.h"
#include "tools/profile/dependences.h"
#include "tools/profile/execution_trace.h"
#include "tools/profile/neighbours.h"
#include "tools/profile/occupied.h"
#include "tools/profile/profile_reader.h"
#include "tools/profile/ranges.h"
#include "tools/profile/reading.h"
#include "tools/report/number_text.h"
#include "tools/validation/gpu_names.h"
#include "tools/validation/kernels_of_row.h"
#include "tools/warpfold/run/file_kind.h"
#include "tools/warpfold/run/profile_families.h"
#include "tools/warpfold/run/profile_plan.h"
#include "tools/warpfold/run/validation_points.h"

namespace warpfold::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostOfName = 56;
constexpr uint32_t kMostThreads = 1024;  // of a CTA: CUDA C++ Programming Guide 12, table of compute capabilities

std::string extents(const std::array<uint32_t, 3>& each) {
  return std::to_string(each[0]) + "x" + std::to_string(each[1]) + "x" + std::to_string(each[2]);
}

// The simulated GPU in relation to the traced GPU.
struct Gpus {
  std::string file;  // name in a scenario, valid in any folder
  configs::Gpu gpu;
  bool same = false;               // the simulated GPU is the traced GPU
  bool same_architecture = false;  // the simulated GPU runs the same kernels
};

Outcome<Gpus> gpus_of(const ProfileRequest& request, const profile::Profile& profile) {
  const auto traced = validation::gpu_file_of(profile.gpu);
  std::string named = request.gpu;
  if (named.empty() && !traced)
    return user_error(request.trace + ": no GPU file for the traced GPU " + escape::quoted(profile.gpu) +
                      (request.only_traced ? "" : "; name one by --gpu"));
  if (named.empty()) named = *traced;
  const auto file = find_of_kind(named, FileKind::kGpu, "--gpu");
  if (!file) return std::unexpected(file.error());
  auto gpu = configs::load_gpu(named);
  if (!gpu) return std::unexpected(Failure(gpu.error()));
  Gpus gpus{.file = configs::is_config_name(named) ? named : fs::absolute(*file).string(), .gpu = std::move(*gpu)};
  gpus.same = !traced || *traced == fs::path(*file).stem().string();
  gpus.same_architecture = gpus.same;
  if (const auto other = traced ? configs::load_gpu(*traced) : std::unexpected(Diagnostic{}); other && !gpus.same)
    gpus.same_architecture = other->architecture() == gpus.gpu.architecture();
  return gpus;
}

class ProfileRun {
 public:
  ProfileRun(const ProfileRequest& request, const profile::NameTable& names, const profile::Profile& profile, const Gpus& gpus)
      : request_(request),
        names_(names),
        profile_(profile),
        gpus_(gpus),
        start_and_end_us_(validation::start_and_end_us(gpus.gpu)),
        occupied_(profile::occupied(profile)),
        points_(request.how, request.command_line, request.resume) {}

  Outcome<ProfiledStep> run() {
    count_launches();
    if (auto read = read_all(); !read) return std::unexpected(read.error());
    if (auto simulated = points_.simulate_all(); !simulated) return std::unexpected(simulated.error());
    describe();
    step_.kernel_of_shape.resize(kernels_.size());
    for (size_t row = 0; row < order_.size(); ++row) {
      step_.kernel_of_shape[order_[row]] = static_cast<uint32_t>(row);
      add_kernel(order_[row]);
    }
    if (auto planned = plan(); !planned) return std::unexpected(planned.error());
    step_.beside = std::move(occupied_.beside);
    step_.same_gpu = gpus_.same;
    return std::move(step_);
  }

 private:
  // The launches of one shape.
  struct Kernel {
    uint64_t launches = 0;
    double us = 0;
    uint64_t alone = 0;  // launches that overlap no other kernel
    double alone_us = 0;
    profile::Reading reading{};
    double simulated_us = 0;
    std::string bound_by{};
    configs::SimulatedPoint point{};
  };

  // Returns the mean time of launches that overlap no other kernel; if every launch overlaps one, of all launches.
  static double time_of(const Kernel& kernel) {
    return kernel.alone > 0 ? kernel.alone_us / static_cast<double>(kernel.alone)
                            : kernel.us / static_cast<double>(kernel.launches);
  }

  void count_launches() {
    kernels_.resize(profile_.shapes.size());
    for (size_t l = 0; l < profile_.launches.size(); ++l) {
      const profile::Launch& launch = profile_.launches[l];
      if (launch.shape == profile::Launch::kCopy) continue;
      Kernel& kernel = kernels_[launch.shape];
      ++kernel.launches;
      kernel.us += launch.us;
      if (occupied_.beside[l]) continue;
      ++kernel.alone;
      kernel.alone_us += launch.us;
    }
    partners_.assign(kernels_.size(), {0, SIZE_MAX});
    for (const auto& [shapes, us] : occupied_.together) {
      for (const auto& [shape, other] : {std::pair(shapes.first, shapes.second), std::pair(shapes.second, shapes.first)}) {
        if (us > partners_[shape].first) partners_[shape] = {us, other};
      }
    }
    for (size_t k = 0; k < kernels_.size(); ++k) order_.push_back(k);
    std::ranges::stable_sort(order_, std::greater(), [&](size_t k) { return kernels_[k].us; });
  }

  Outcome<void> read_all() {
    fs::path folder;
    for (const fs::path& each : configs::config_folders()) {
      if (folder.empty() && fs::is_directory(each / "kernels" / "operators")) folder = each;
    }
    validation::RowMapper mapper((folder / "gpus").string(), {});
    const profile::SimulatedGpu on{gpus_.gpu, gpus_.same_architecture, (folder / "kernels" / "operators").string()};
    uint32_t simulated = 0;
    for (const size_t k : order_) {
      Kernel& kernel = kernels_[k];
      kernel.reading = profile::read_launch(names_, profile_.shapes[k], on, mapper);
      if (!kernel.reading.run) continue;
      if (simulated == request_.kernels) {
        kernel.reading.run.reset();
        kernel.reading.opaque = "not among the " + std::to_string(request_.kernels) + " longest that are simulated (--kernels)";
        continue;
      }
      if (gpus_.same_architecture) profile::occupy_as_traced(profile_.shapes[k], kernel.reading);
      if (!kernel.reading.run) continue;
      points_.add(*kernel.reading.run, true);
      ++simulated;
    }
    return {};
  }

  void describe() {
    report_.set_version(WARPFOLD_VERSION);
    report_.set_command_line(request_.command_line);
    report_.set_trace(request_.trace);
    report_.set_traced_gpu(profile_.gpu);
    report_.set_gpu(gpus_.gpu.name());
    report_.set_span_us(occupied_.span_us);
    report_.set_busy_us(occupied_.busy_us);
    report_.set_overlap_us(occupied_.overlap_us);
    report_.set_gaps(occupied_.gaps);
    report_.set_gaps_us(occupied_.gaps_us);
    report_.set_longest_gap_us(occupied_.longest_gap_us);
    for (const profile::Launch& launch : profile_.launches) {
      const bool copy = launch.shape == profile::Launch::kCopy;
      if (copy) report_.set_copies_us(report_.copies_us() + launch.us);
      if (!copy) report_.set_kernel_us(report_.kernel_us() + launch.us);
      report_.set_launches(report_.launches() + (copy ? 0 : 1));
    }
    if (!gpus_.same)
      report_.add_notes("The trace is of " + escape::quoted(profile_.gpu) + ": times of " + gpus_.gpu.name() +
                        " have no error, and opaque launches no part in the plan.");
    if (!request_.range.empty())
      report_.add_notes("Only launches in ranges called " + escape::quoted(request_.range) +
                        " count; the time between these ranges is in the gaps.");
    if (profile_.one_at_a_time)
      report_.add_notes(
          "Nsight Compute ran each kernel by itself, by default with empty caches and at the base clock: launches follow each "
          "other "
          "in the report, and times are not those of the step.");
    if (!profile_.shapes_recorded)
      report_.add_notes(
          "The trace has no shapes of operators: sizes follow from grids, and GEMMs stay opaque (record_shapes=True).");
    if (profile_.operators_found > 0)
      report_.add_notes(std::to_string(profile_.operators_found) +
                        " launches were recorded without their operator. They take that of a launch of the same kernel and grid "
                        "between the same neighbours.");
    if (profile_.other_devices > 0)
      report_.add_notes("Kernels of " + std::to_string(profile_.other_devices) + " other GPUs in the trace are left out; device " +
                        std::to_string(profile_.device) + " has the most kernel time.");
    report_.add_notes(start_and_end_us_ > 0
                          ? "Simulated times of kernels include " + report::counted(gpus_.gpu.graph_launch_cycles(), "cycle") +
                                " of a kernel's start and end, as profilers' times do (gpu.graph_launch_cycles)."
                          : gpus_.gpu.name() +
                                " states no time of a kernel's start and end (gpu.graph_launch_cycles), which profilers' times "
                                "include: short launches are too fast.");
  }

  void add_kernel(size_t k) {
    Kernel& kernel = kernels_[k];
    const profile::LaunchShape& shape = profile_.shapes[k];
    if (kernel.reading.run) {
      const auto& point = points_.find(*kernel.reading.run, true);
      if (point) {
        kernel.simulated_us = static_cast<double>(point->total_cycles()) / point->clock_mhz() +
                              validation::start_and_end_us(kernel.reading.run->scenario.gpu());
        kernel.bound_by = point->kernel(0).bound_by();
        kernel.point = *point;
      } else {
        kernel.reading.opaque = point.error().text;
      }
    }
    const double total = report_.kernel_us() > 0 ? report_.kernel_us() : 1;
    if (!kernel.reading.family.empty()) report_.set_named_share(report_.named_share() + kernel.us / total);
    if (kernel.simulated_us > 0) report_.set_simulated_share(report_.simulated_share() + kernel.us / total);
    configs::ProfiledKernel& said = *report_.add_kernels();
    said.set_name(shape.name);
    said.set_short_name(profile::short_name(shape.name, kMostOfName));
    said.set_operator_(shape.op.name);
    said.set_family(kernel.reading.family);
    said.set_reads_as(kernel.reading.reads_as);
    said.set_grid(extents(shape.grid));
    said.set_block(extents(shape.block));
    said.set_registers_per_thread(shape.registers_per_thread);
    said.set_shared_memory_bytes(shape.shared_memory_bytes);
    said.set_launches(kernel.launches);
    said.set_measured_us(kernel.us);
    said.set_mean_us(kernel.us / static_cast<double>(kernel.launches));
    said.set_beside(kernel.launches - kernel.alone);
    if (kernel.alone > 0) said.set_alone_us(kernel.alone_us / static_cast<double>(kernel.alone));
    if (said.beside() > 0) {
      said.set_beside_us((kernel.us - kernel.alone_us) / static_cast<double>(said.beside()));
      const size_t partner = partners_[k].second;
      if (partner < kernels_.size()) said.set_beside_most(profile::short_name(profile_.shapes[partner].name, kMostOfName));
    }
    said.set_simulated_us(kernel.simulated_us);
    const double measured_us = time_of(kernel);
    if (gpus_.same && kernel.simulated_us > 0 && measured_us > 0) said.set_error(kernel.simulated_us / measured_us - 1);
    said.set_bound_by(kernel.bound_by);
    said.set_opaque(kernel.reading.opaque);
    for (const std::string& note : kernel.reading.notes) said.add_notes(note);
    for (const std::string& range : shape.ranges) said.add_notes("launched in range " + escape::quoted(range));
    step_.points.push_back(std::move(kernel.point));
  }

  // Returns whether a stand-in can replace the kernel: its time must be of the simulated GPU, and its CTAs must have a legal number
  // of threads.
  bool can_stand_in(size_t k) const {
    const profile::LaunchShape& shape = profile_.shapes[k];
    return request_.opaque && gpus_.same && shape.ctas() > 0 && shape.threads() > 0 && shape.threads() <= kMostThreads &&
           time_of(kernels_[k]) > 0;
  }
  OpaqueLaunch opaque_launch(size_t k) const {
    const profile::LaunchShape& shape = profile_.shapes[k];
    return {shape.ctas(),
            shape.threads(),
            shape.registers_per_thread,
            shape.shared_memory_bytes,
            time_of(kernels_[k]),
            request_.demand.value_or(kernels_[k].reading.demand)};
  }

  Outcome<void> plan() {
    std::vector<PlanCandidate> candidates;
    std::vector<size_t> of;
    double overlapping_us = 0;
    for (size_t row = 0; row < order_.size() && candidates.size() < request_.candidates; ++row) {
      const size_t k = order_[row];
      const Kernel& kernel = kernels_[k];
      if (kernel.alone == 0) {
        overlapping_us += kernel.us;
        continue;
      }
      const bool opaque = kernel.simulated_us <= 0;
      if (opaque && !can_stand_in(k)) continue;
      PlanCandidate& candidate = candidates.emplace_back();
      candidate.names = profile_.shapes[k].ranges;
      candidate.names.insert(candidate.names.begin(), profile_.shapes[k].name);
      candidate.short_name = profile::short_name(profile_.shapes[k].name, kMostOfName);
      candidate.family = kernel.reading.family;
      candidate.row = static_cast<uint32_t>(row + 1);
      if (gpus_.same) candidate.measured_us = std::max(0.0, time_of(kernel) - start_and_end_us_);
      candidate.launches = kernel.alone;
      if (opaque) candidate.opaque = opaque_launch(k);
      if (!opaque) candidate.run = *kernel.reading.run;
      of.push_back(k);
    }
    if (overlapping_us > 0) {
      report_.add_notes("Kernels that overlap others in each of their launches have no part in the plan: " +
                        report::time_text(overlapping_us) + ".");
    }
    for (size_t one = 0; one < of.size(); ++one) {
      for (size_t other = one + 1; other < of.size(); ++other) {
        if (occupied_.together.contains(std::minmax(static_cast<uint32_t>(of[one]), static_cast<uint32_t>(of[other]))))
          candidates[one].together.push_back(other);
      }
    }
    if (request_.opaque) report_.set_assumed(request_.demand ? configs::OpaqueDemand_Name(*request_.demand) : "FAMILY");
    std::optional<profile::IndependentPairs> dependences;
    if (!request_.execution_trace.empty()) {
      auto read = dependences_of(of);
      if (!read) return std::unexpected(read.error());
      dependences = std::move(*read);
    }
    const PlanRequest request{
        gpus_.gpu, gpus_.file, request_.independence, dependences ? &*dependences : nullptr, request_.command_line, request_.how};
    return plan_pairs(candidates, request, report_);
  }

  // `candidates`: shapes of the candidates. Launches that overlap another kernel in the trace are not paired again.
  Outcome<profile::IndependentPairs> dependences_of(const std::vector<size_t>& candidates) {
    const auto trace = profile::read_execution_trace(request_.execution_trace);
    if (!trace) return std::unexpected(Failure(trace.error()));
    std::vector<uint32_t> groups(profile_.launches.size(), profile::kNoGroup);
    for (size_t l = 0; l < groups.size(); ++l) {
      const auto found = std::ranges::find(candidates, profile_.launches[l].shape);
      if (!occupied_.beside[l] && found != candidates.end()) groups[l] = static_cast<uint32_t>(found - candidates.begin());
    }
    auto pairs = profile::independent_pairs(profile_, *trace, static_cast<uint32_t>(candidates.size()), groups);
    if (pairs.unknown_launches == profile_.launches.size())
      return user_error(request_.execution_trace + ": no launch of " + request_.trace +
                        " is of one of its operators; both must be recorded in the same run, the profile with its execution trace");
    if (pairs.unknown_launches > 0)
      report_.add_notes(std::to_string(pairs.unknown_launches) + " of " + std::to_string(profile_.launches.size()) +
                        " launches and copies are of no operator of the execution trace: dependences through them are not known.");
    return pairs;
  }

  const ProfileRequest& request_;
  const profile::NameTable& names_;
  const profile::Profile& profile_;
  const Gpus& gpus_;
  double start_and_end_us_;  // of a kernel at the GPU's clock; part of measured and simulated times, not of pairs' times
  profile::Occupied occupied_;
  ValidationPoints points_;
  std::vector<Kernel> kernels_{};                      // by shape
  std::vector<size_t> order_{};                        // longest first
  std::vector<std::pair<double, size_t>> partners_{};  // by shape: time and shape of the kernel that overlaps its launches for the
                                                       // longest time
  ProfiledStep step_{};
  configs::ProfileReport& report_ = step_.report;
};

}  // namespace

Outcome<ProfiledStep> run_profile(const ProfileRequest& request) {
  std::optional<profile::NameTable> own;
  if (!request.names.empty()) {
    auto loaded = profile::NameTable::load(request.names);
    if (!loaded) return std::unexpected(Failure(loaded.error()));
    own.emplace(std::move(*loaded));
  }
  const profile::NameTable& names = own ? *own : profile::NameTable::embedded();
  auto profile = profile::read_profile(request.trace);
  if (!profile) return std::unexpected(Failure(profile.error()));
  profile::tell_apart(names, *profile);  // before launches are removed: values come in turn, and from launches near by
  if (!request.range.empty()) {
    if (auto kept = profile::keep_range(request.range, *profile); !kept)
      return user_error(request.trace + ": " + kept.error().message);
  }
  profile::tell_ranges_apart([&](const std::string& range) { return request.independence.names(range); }, *profile);
  const auto gpus = gpus_of(request, *profile);
  if (!gpus) return std::unexpected(gpus.error());
  auto step = ProfileRun(request, names, *profile, *gpus).run();
  if (!step) return step;
  step->profile = std::move(*profile);
  add_families(*step);
  return step;
}

}  // namespace warpfold::cli
