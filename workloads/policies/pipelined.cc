// Cuts RNG, attention and the GEMMs around it into segments along the sequence (Ma, Liu, Krashinsky, arXiv 2410.07531, figure 15).
// The random numbers of a segment are made beside the work of the previous segment, so the bits of only a few segments exist at a
// time.
//
// Rows of the sequence are independent in a GEMM and, as queries, in attention. Keys and values are not: attention needs those of
// all rows, or of the earlier rows if it is causal. GEMMs after the attention are therefore always cut; GEMMs before it are cut
// only if it is causal. In a steady state of many layers (steady_state), the GEMMs before the attention follow the attention of the
// previous layer: they are cut, and each of their segments follows the attention of the same segment.
#include <algorithm>
#include <map>

#include "configs/escape/quoted.h"
#include "workloads/policies/graph.h"
#include "workloads/policies/plan.h"
#include "workloads/workloads.h"

namespace warpfold::policies {
namespace {

const configs::AttentionShape* attention_of(const configs::Kernel& kernel) {
  if (kernel.has_flash_attention_2()) return &kernel.flash_attention_2().shape();
  if (kernel.has_flash_attention_3()) return &kernel.flash_attention_3().shape();
  if (kernel.has_flash_attention_4()) return &kernel.flash_attention_4().shape();
  return nullptr;
}

configs::AttentionShape& mutable_attention_of(configs::Kernel& kernel) {
  if (kernel.has_flash_attention_2()) return *kernel.mutable_flash_attention_2()->mutable_shape();
  if (kernel.has_flash_attention_3()) return *kernel.mutable_flash_attention_3()->mutable_shape();
  return *kernel.mutable_flash_attention_4()->mutable_shape();
}

bool can_be_cut(const configs::Kernel& kernel) {
  const bool gemm = kernel.has_hopper_gemm() || kernel.has_blackwell_gemm() || kernel.has_ampere_gemm();
  return gemm || kernel.has_philox() || attention_of(kernel) != nullptr;
}

Expected<uint64_t> divide(const configs::Kernel& kernel, const std::string& what, uint64_t rows, uint32_t segments) {
  if (rows % segments == 0) return rows / segments;
  return fail("the " + std::to_string(rows) + " " + what + " of kernel " + escape::quoted(kernel.name()) + " cannot be cut into " +
              std::to_string(segments) + " equal segments");
}

Expected<void> cut_attention(configs::Kernel& kernel, uint32_t segment, uint32_t segments) {
  configs::AttentionShape& shape = mutable_attention_of(kernel);
  const uint64_t keys = shape.has_keys() ? shape.keys() : shape.queries();
  const auto queries = divide(kernel, "queries", shape.queries(), segments);
  if (!queries) return std::unexpected(queries.error());
  // A causal segment sees the keys up to its own last row.
  const uint64_t unseen = shape.causal() ? *queries * (segments - 1 - segment) : 0;
  shape.set_queries(*queries);
  shape.set_keys(keys - std::min(keys, unseen));
  return {};
}

Expected<configs::Kernel> cut(const configs::Kernel& whole, uint32_t segment, uint32_t segments) {
  configs::Kernel kernel = whole;
  kernel.set_name(whole.name() + "." + std::to_string(segment));
  const auto set = [&](const std::string& what, uint64_t rows, auto assign) -> Expected<void> {
    const auto part = divide(whole, what, rows, segments);
    if (!part) return std::unexpected(part.error());
    assign(*part);
    return {};
  };
  Expected<void> done;
  if (kernel.has_philox()) {
    done = set("queries", kernel.philox().queries(), [&](uint64_t part) { kernel.mutable_philox()->set_queries(part); });
  } else if (kernel.has_hopper_gemm()) {
    done = set("rows", kernel.hopper_gemm().m(), [&](uint64_t part) { kernel.mutable_hopper_gemm()->set_m(part); });
  } else if (kernel.has_blackwell_gemm()) {
    done = set("rows", kernel.blackwell_gemm().m(), [&](uint64_t part) { kernel.mutable_blackwell_gemm()->set_m(part); });
  } else if (kernel.has_ampere_gemm()) {
    done = set("rows", kernel.ampere_gemm().m(), [&](uint64_t part) { kernel.mutable_ampere_gemm()->set_m(part); });
  } else {
    done = cut_attention(kernel, segment, segments);
  }
  if (!done) return std::unexpected(done.error());
  return kernel;
}

class Pipeline {
 public:
  Pipeline(const configs::Scenario& scenario, workloads::KernelMaker& kernels)
      : scenario_(scenario),
        kernels_(kernels),
        graph_(scenario),
        segments_(scenario.policy().pipelined().has_segments() ? scenario.policy().pipelined().segments() : 4),
        buffers_(scenario.policy().pipelined().has_buffers() ? scenario.policy().pipelined().buffers() : 2),
        steady_(scenario.policy().pipelined().steady_state()),
        is_cut_(static_cast<size_t>(scenario.kernel_size())) {}

  Expected<Plan> plan() {
    if (const auto found = find_parties(); !found) return std::unexpected(found.error());
    sort_kernels();
    for (const int kernel : before_) {
      if (const auto added = add(kernel, 0); !added) return std::unexpected(added.error());
    }
    if (!steady_) {
      if (const auto added = add(rng_, 0); !added) return std::unexpected(added.error());
    }
    for (uint32_t segment = 0; segment < segments_; ++segment) {
      if (const auto added = add_segment(segment); !added) return std::unexpected(added.error());
    }
    for (const int kernel : behind_) {
      if (const auto added = add(kernel, 0); !added) return std::unexpected(added.error());
    }
    const uint64_t bits = elements(scenario_.kernel(rng_).philox());
    plan_.stored_bits_bytes = bits / segments_ * std::min(buffers_, segments_) / 8;
    return std::move(plan_);
  }

 private:
  Expected<void> find_parties() {
    for (int k = 0; k < scenario_.kernel_size(); ++k) {
      if (!scenario_.kernel(k).has_philox()) continue;
      if (rng_ >= 0) return fail("there is more than one Philox kernel");
      rng_ = k;
    }
    if (rng_ < 0) return fail("there is no Philox kernel");
    for (int k = 0; k < scenario_.kernel_size(); ++k) {
      const configs::AttentionShape* shape = attention_of(scenario_.kernel(k));
      if (!graph_.precedes(rng_, k) || shape == nullptr || shape->dropout() != configs::STORED_BITS) continue;
      if (reader_ >= 0)
        return fail("more than one attention reads the bits of kernel " + escape::quoted(scenario_.kernel(rng_).name()));
      reader_ = k;
    }
    for (int k = 0; k < scenario_.kernel_size() && reader_ < 0; ++k) {
      if (graph_.precedes(rng_, k) && can_be_cut(scenario_.kernel(k))) reader_ = k;
    }
    if (reader_ < 0) return fail("no kernel that can be cut runs after kernel " + escape::quoted(scenario_.kernel(rng_).name()));
    return {};
  }

  // Sorts kernels by the time when they run: once before all segments (before_), once after them (behind_), or in each segment,
  // before the reader (lead_) or after it (follow_).
  void sort_kernels() {
    const configs::AttentionShape* shape = attention_of(scenario_.kernel(reader_));
    const bool rows_suffice = shape != nullptr && shape->causal();
    is_cut_[rng_] = is_cut_[reader_] = true;
    for (int k = 0; k < scenario_.kernel_size(); ++k) {
      if (k == rng_ || k == reader_) continue;
      const bool in_front = graph_.precedes(k, reader_);
      const bool late = graph_.precedes(reader_, k);
      is_cut_[k] = can_be_cut(scenario_.kernel(k)) && (late || (in_front && (steady_ || rows_suffice)));
      if (is_cut_[k]) {
        (late || steady_ ? follow_ : lead_).push_back(k);
      } else {
        (late ? behind_ : before_).push_back(k);
      }
    }
  }

  Expected<void> add_segment(uint32_t segment) {
    std::vector<int> order = lead_;
    order.push_back(reader_);
    order.insert(order.end(), follow_.begin(), follow_.end());
    for (const int kernel : order) {
      if (const auto added = add(kernel, segment); !added) return added;
    }
    if (!steady_ && segment + 1 == segments_) return {};
    return add(rng_, segment + 1);
  }

  // Adds a kernel, or one segment of it. In a steady state, the random numbers made after the last segment belong to the first
  // segment of the next layer.
  Expected<void> add(int kernel, uint32_t segment) {
    const configs::Kernel& whole = scenario_.kernel(kernel);
    auto description = is_cut_[kernel] ? cut(whole, segment % segments_, segments_) : Expected<configs::Kernel>(whole);
    if (!description) return fail_in(path_of_kernel(kernel), description.error().message);
    auto made = kernels_.make(*description, scenario_.gpu());
    if (!made) return std::unexpected(made.error().inside(path_of_kernel(kernel)));
    PlannedKernel planned;
    planned.kernel = std::move(*made);
    planned.of = whole.name();
    planned.stream = static_cast<int>(whole.stream());
    planned.priority = whole.priority();
    auto after = waits_for(kernel, segment);
    if (!after) return std::unexpected(after.error());
    planned.after = std::move(*after);
    place_[{kernel, segment}] = static_cast<int>(plan_.kernels.size());
    plan_.kernels.push_back(std::move(planned));
    return {};
  }

  Expected<std::vector<int>> waits_for(int kernel, uint32_t segment) const {
    std::vector<int> after;
    const auto wait_for = [&](int other, uint32_t of_segment) {
      const auto place = place_.find({other, of_segment});
      if (place == place_.end()) return false;
      if (std::ranges::find(after, place->second) == after.end()) after.push_back(place->second);
      return true;
    };
    if (kernel == rng_ && segment >= buffers_) wait_for(reader_, segment - buffers_);
    for (int other = 0; other < scenario_.kernel_size(); ++other) {
      if (!graph_.precedes(other, kernel)) continue;
      // A kernel that is not cut waits for the last segment of each predecessor that is cut.
      const bool placed = wait_for(other, !is_cut_[other] ? 0 : is_cut_[kernel] ? segment : segments_ - 1);
      // In a steady state, the first segments' predecessors of the reader belong to the previous layer.
      if (placed || (steady_ && (kernel == reader_ || graph_.precedes(reader_, kernel)))) continue;
      return fail("cut into segments, kernel " + escape::quoted(scenario_.kernel(kernel).name()) + " would run before " +
                  escape::quoted(scenario_.kernel(other).name()) + ", for which it waits");
    }
    if (steady_ && kernel != reader_ && kernel != rng_ && is_cut_[kernel]) wait_for(reader_, segment);
    return after;
  }

  const configs::Scenario& scenario_;
  workloads::KernelMaker& kernels_;
  Graph graph_;
  uint32_t segments_;
  uint32_t buffers_;
  bool steady_;
  int rng_ = -1;
  int reader_ = -1;
  std::vector<bool> is_cut_;
  std::vector<int> before_, lead_, follow_, behind_;
  std::map<std::pair<int, uint32_t>, int> place_;  // position in the plan, by kernel and segment
  Plan plan_;
};

class Pipelined : public Policy {
 public:
  configs::PolicyKind kind() const override { return configs::PIPELINED; }
  std::string_view help() const override {
    return "segments along the sequence, with bits of a few segments in memory (pipelined)";
  }
  Expected<Plan> plan(const configs::Scenario& scenario, workloads::KernelMaker& kernels) const override {
    return Pipeline(scenario, kernels).plan();
  }
  OpenSettings open(const configs::Scenario& scenario, workloads::KernelMaker& /*kernels*/) const override {
    OpenSettings open;
    if (scenario.policy().pipelined().has_segments()) return open;
    for (const uint32_t segments : {2, 4, 8, 16}) {
      configs::Policy& choice = open.choices.emplace_back(scenario.policy());
      choice.mutable_pipelined()->set_segments(segments);
    }
    return open;
  }
};

}  // namespace

const Policy& pipelined() {
  static const Pipelined policy;
  return policy;
}

}  // namespace warpfold::policies
