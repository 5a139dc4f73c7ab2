#include <algorithm>
#include <utility>

#include "configs/escape/quoted.h"
#include "sim/analytic/stored_bits.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/figures/chain.h"
#include "tools/warpfold/figures/model_result.h"
#include "tools/warpfold/render/model_report.h"
#include "tools/warpfold/run/request.h"

namespace warpfold::cli {

namespace {

constexpr uint32_t kMostParts = 1U << 20;

struct Split {
  uint32_t gpus = 1;
  sim::Parallelism parallelism = sim::Parallelism::kTensor;
  uint32_t segments = 1;
};

Outcome<Split> split_options(const Options& options) {
  const auto gpus = options.number("gpus", 1, kMostParts);
  if (!gpus) return std::unexpected(gpus.error());
  const auto segments = options.number("segments", 1, kMostParts);
  if (!segments) return std::unexpected(segments.error());
  const auto parallelism = options.choice("parallelism", {"tensor", "sequence"});
  if (!parallelism) return std::unexpected(parallelism.error());
  return Split{*gpus, *parallelism == 0 ? sim::Parallelism::kTensor : sim::Parallelism::kSequence, *segments};
}

Outcome<MeasuredInterference> simulate_pair(const configs::Scenario& scenario, workloads::KernelMaker& kernels,
                                            const Invocation& invocation, const RunOptions& how) {
  const configs::Scenario pair = pair_of(scenario);
  const auto planned = plan_scenario(pair, kernels);
  if (!planned) return std::unexpected(planned.error());
  const auto results = Runner(kernels, invocation.command_line, how).run({*planned});
  if (!results) return std::unexpected(results.error());
  MeasuredInterference measured{measured_interference(pair, results->front()), {}};
  for (const configs::KernelResult& kernel : results->front().kernels()) measured.alone[kernel.name()] = kernel.solo_cycles();
  return measured;
}

// Returns the interference from the source that the user chose.
Outcome<MeasuredInterference> measure(const Chain& chain, const std::string& source, const configs::Scenario& scenario,
                                      workloads::KernelMaker& kernels, const Invocation& invocation, const RunOptions& how) {
  if (source == "paper") return MeasuredInterference{sim::paper_interference(), {}};
  MeasuredInterference measured;
  if (source == "simulated" && chain.has_gemm && chain.has_rng) {
    auto simulated = simulate_pair(scenario, kernels, invocation, how);
    if (!simulated) return std::unexpected(simulated.error());
    measured = std::move(*simulated);
  }
  measured.interference.dropping = chain.dropping;
  return measured;
}

Outcome<void> fill_stored_bits(const configs::Scenario& scenario, const Split& split, configs::Model& model) {
  uint64_t bytes = 0;
  uint64_t per_gpu = 0;
  for (const configs::Kernel& kernel : scenario.kernel()) {
    if (kind_of(kernel) != KernelKind::kRng) continue;
    const configs::Philox& philox = kernel.philox();
    const sim::StoredBits bits{.batch = std::max<uint64_t>(philox.batch(), 1),
                               .heads = philox.heads(),
                               .queries = philox.queries(),
                               .keys = philox.keys(),
                               .gpus = split.gpus,
                               .segments = split.segments};
    if (!sim::splits_evenly(bits, split.parallelism)) {
      const bool heads = split.parallelism == sim::Parallelism::kTensor;
      return user_error("--gpus " + std::to_string(split.gpus) + " does not divide the " +
                        std::to_string(heads ? bits.heads : bits.queries) + (heads ? " heads" : " queries") + " of kernel " +
                        escape::quoted(kernel.name()));
    }
    const uint64_t queries = bits.queries / (split.parallelism == sim::Parallelism::kSequence ? split.gpus : 1);
    if (queries % split.segments != 0) {  // PIPELINED needs equal segments too
      return user_error("--segments " + std::to_string(split.segments) + ": the " + std::to_string(queries) + " queries " +
                        (queries < bits.queries ? "of each GPU " : "") + "of kernel " + escape::quoted(kernel.name()) +
                        " cannot be cut into equal segments");
    }
    bytes += bits.bytes();
    per_gpu += bits.bytes_per_gpu();
  }
  if (bytes == 0) return {};
  configs::StoredBits& stored = *model.mutable_stored_bits();
  stored.set_bytes(bytes);
  stored.set_bytes_per_gpu(per_gpu);
  stored.set_gpus(split.gpus);
  stored.set_parallelism(split.parallelism == sim::Parallelism::kTensor ? "tensor" : "sequence");
  stored.set_segments(split.segments);
  return {};
}

}  // namespace

Outcome<void> model_command(const Invocation& invocation) {
  namespace po = boost::program_options;
  Options options(
      "warpfold model SCENARIO [options]",
      "Reports lower bounds on the times of a scenario's kernels by their demand on each resource, and the times of GEMMs,\n"
      "random numbers and attention in sequence, fused and overlapped.",
      "  warpfold model qkv_philox_llama3_70b\n"
      "  warpfold model qkv_philox_llama3_70b --interference paper --set seq=16384\n"
      "  warpfold model scenario.textproto --interference none --gpus 8 --parallelism sequence --segments 4\n");
  options.add()("interference", po::value<std::string>()->default_value("simulated")->value_name("SOURCE"),
                "slowdown of overlapped kernels: simulated (from a simulation of GEMMs beside random numbers), paper (measured by "
                "Ma, Liu and Krashinsky), none");
  options.add()("gpus", po::value<std::string>()->default_value("1")->value_name("N"), "GPUs that share the stored bits");
  options.add()("parallelism", po::value<std::string>()->default_value("tensor")->value_name("HOW"),
                "tensor: GPUs share the heads; sequence: the queries");
  options.add()("segments", po::value<std::string>()->default_value("1")->value_name("N"),
                "segments of the sequence in a pipeline of random numbers, GEMM and attention");
  add_request(options);
  options.add_output();
  auto request = read_request(options, invocation);
  if (!request) return std::unexpected(request.error());
  if (auto known = options.choice("interference", {"simulated", "paper", "none"}); !known) return std::unexpected(known.error());
  const std::string source = options.text("interference");
  const auto split = split_options(options);
  if (!split) return std::unexpected(split.error());
  configs::Places places;
  auto scenario = request->scenario(&places);
  if (!scenario) return std::unexpected(scenario.error());
  if (const auto tuned = TileTuner().tune(*scenario); !tuned) return std::unexpected(Failure(places.located(tuned.error())));
  const auto chain = make_chain(*scenario, request->kernels.file(), source == "paper");
  if (!chain) return std::unexpected(Failure(places.located(chain.error())));
  const auto measured = measure(*chain, source, *scenario, request->kernels, invocation, request->how);
  if (!measured) return std::unexpected(measured.error());
  configs::Result result = model_result(*scenario, *chain, *measured);
  result.mutable_provenance()->set_command_line(invocation.command_line);
  if (auto filled = fill_stored_bits(*scenario, *split, *result.mutable_model()); !filled) return filled;
  return write_output(request->destination.path, render_model(result, request->destination.format));
}

}  // namespace warpfold::cli
