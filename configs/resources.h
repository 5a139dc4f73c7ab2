#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpfold::configs {

class Gpu;

enum class ResourceKind {
  kRate,      // more is faster
  kLatency,   // less is faster
  kCapacity,  // more is faster
};
std::string_view resource_kind_name(ResourceKind kind);  // "rate", "latency", "capacity"

// Something that a GPU may have more or less of.
struct ScalableResource {
  std::string_view name;  // as in results, if they have it: "alu", "shared_memory", "l2_latency"
  ResourceKind kind;
  std::string_view path;  // field of a Gpu: a factor; with `whole` the amounts themselves, with commas
  std::string_view what;
  bool whole = false;  // programs are generated for the changed GPU
  bool many = false;   // more of many resources at once; varied only if named
};

std::span<const ScalableResource> scalable_resources();
// Returns nullptr if no resource has the name.
const ScalableResource* find_resource(std::string_view name);
std::vector<std::string> resource_names();

// Returns the number in a field of a GPU: "sub_core.alu.scale". Nothing if the field is not set.
std::optional<double> number_at(const Gpu& gpu, std::string_view path);

// Returns the settings that multiply a resource of `gpu`: "gpu.sm.tensor.scale=2". A factor that the GPU already has is
// multiplied.
std::vector<std::string> scaled_by(const Gpu& gpu, const ScalableResource& resource, double factor);

// Returns the GPU with its capacity_scale factors multiplied in. CTAs and policies use these capacities; programs are
// generated for the unscaled GPU.
Gpu with_scaled_capacities(Gpu gpu);

}  // namespace warpfold::configs
