// Removes the kernel of random numbers: the attention kernel that reads its bits generates them between its own instructions.
#include <algorithm>
#include <map>

#include "configs/escape/quoted.h"
#include "workloads/policies/graph.h"
#include "workloads/policies/plan.h"

namespace warpfold::policies {
namespace {

configs::AttentionShape* stored_bits_attention(configs::Kernel& kernel) {
  configs::AttentionShape* shape = nullptr;
  if (kernel.has_flash_attention_2()) shape = kernel.mutable_flash_attention_2()->mutable_shape();
  if (kernel.has_flash_attention_3()) shape = kernel.mutable_flash_attention_3()->mutable_shape();
  if (kernel.has_flash_attention_4()) shape = kernel.mutable_flash_attention_4()->mutable_shape();
  return shape != nullptr && shape->dropout() == configs::STORED_BITS ? shape : nullptr;
}

uint64_t or_one(uint64_t count) { return std::max<uint64_t>(1, count); }

uint64_t elements_of(const configs::AttentionShape& shape) {
  const uint64_t keys = shape.has_keys() ? shape.keys() : shape.queries();
  return or_one(shape.batch()) * shape.heads() * shape.queries() * keys;
}

// The attention kernel after `rng` that reads stored bits.
Expected<int> reader_of(configs::Scenario& scenario, int rng) {
  const Graph graph(scenario);
  int reader = -1;
  for (int k = 0; k < scenario.kernel_size(); ++k) {
    if (!graph.precedes(rng, k) || stored_bits_attention(*scenario.mutable_kernel(k)) == nullptr) continue;
    if (reader >= 0) {
      return fail("both " + escape::quoted(scenario.kernel(reader).name()) + " and " + escape::quoted(scenario.kernel(k).name()) +
                  " read the bits of kernel " + escape::quoted(scenario.kernel(rng).name()));
    }
    reader = k;
  }
  if (reader < 0)
    return fail("no attention with dropout STORED_BITS runs after kernel " + escape::quoted(scenario.kernel(rng).name()));
  return reader;
}

// Removes a kernel. Kernels that waited for it, by name or as later kernels of its stream, wait for its predecessors instead.
void remove(configs::Scenario& scenario, int gone) {
  const Graph graph(scenario);
  const configs::Kernel kernel = scenario.kernel(gone);
  std::vector<std::string> earlier(kernel.after().begin(), kernel.after().end());
  for (int k = gone - 1; k >= 0; --k) {
    if (scenario.kernel(k).stream() != kernel.stream()) continue;
    earlier.push_back(scenario.kernel(k).name());
    break;
  }
  for (int k = 0; k < scenario.kernel_size(); ++k) {
    if (!graph.precedes(gone, k)) continue;
    auto* after = scenario.mutable_kernel(k)->mutable_after();
    if (const auto mention = std::ranges::find(*after, kernel.name()); mention != after->end()) after->erase(mention);
    for (const std::string& name : earlier) {
      if (std::ranges::find(*after, name) == after->end()) *after->Add() = name;
    }
  }
  scenario.mutable_kernel()->DeleteSubrange(gone, 1);
}

// Fuses one Philox kernel into the attention kernel that reads its bits, and returns that kernel's name.
Expected<std::string> fuse(configs::Scenario& scenario, int rng) {
  const configs::Kernel kernel = scenario.kernel(rng);
  const auto reader = reader_of(scenario, rng);
  if (!reader) return std::unexpected(reader.error());
  configs::AttentionShape& shape = *stored_bits_attention(*scenario.mutable_kernel(*reader));
  // Under a causal mask the Philox kernel may omit the bits of masked scores.
  const uint64_t made = elements(kernel.philox());
  if (made != elements_of(shape) && !(shape.causal() && 2 * made == elements_of(shape))) {
    return fail("kernel " + escape::quoted(kernel.name()) + " makes " + std::to_string(made) + " bits, attention " +
                escape::quoted(scenario.kernel(*reader).name()) + " has " + std::to_string(elements_of(shape)) + " elements");
  }
  shape.set_dropout(configs::FUSED_PHILOX);
  if (kernel.philox().rounds() != 0) shape.set_philox_rounds(kernel.philox().rounds());
  // Keeps the number of random bits per element, so that the numbers stay the same.
  if (kernel.philox().threshold_bits() != 0) shape.set_threshold_bits(kernel.philox().threshold_bits());
  const std::string name = scenario.kernel(*reader).name();
  remove(scenario, rng);
  return name;
}

int first_philox(const configs::Scenario& scenario) {
  const auto found = std::ranges::find_if(scenario.kernel(), &configs::Kernel::has_philox);
  return found == scenario.kernel().end() ? -1 : static_cast<int>(found - scenario.kernel().begin());
}

class Fused : public Policy {
 public:
  configs::PolicyKind kind() const override { return configs::FUSED; }
  std::string_view help() const override { return "attention generates its own random numbers; the Philox kernel is left out"; }
  Expected<Plan> plan(const configs::Scenario& scenario, workloads::KernelMaker& kernels) const override {
    configs::Scenario fused = scenario;
    if (first_philox(fused) < 0) return fail("there is no Philox kernel");
    std::map<std::string, std::string> made_by;  // attention -> Philox kernel
    for (int rng = first_philox(fused); rng >= 0; rng = first_philox(fused)) {
      const std::string name = fused.kernel(rng).name();
      const auto attention = fuse(fused, rng);
      if (!attention) return std::unexpected(attention.error());
      made_by[*attention] = name;
    }
    auto plan = plan_as_written(fused, kernels);
    if (!plan) return plan;
    for (PlannedKernel& kernel : plan->kernels) {
      if (const auto own = made_by.find(kernel.of); own != made_by.end()) kernel.also = {own->second};
    }
    return plan;
  }
};

}  // namespace

const Policy& fused() {
  static const Fused policy;
  return policy;
}

}  // namespace warpfold::policies
