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
  std::string_view name;  // as results call it where they know it: "alu", "shared_memory", "l2_latency"
  ResourceKind kind;
  std::string_view path;  // field of a Gpu: a factor, or where `whole` the amounts themselves, with commas
  std::string_view what;
  bool whole = false;  // programs are made for the changed GPU
  bool many = false;   // more of many resources at once: asked for by name alone
};

std::span<const ScalableResource> scalable_resources();
// None of that name: nullptr.
const ScalableResource* find_resource(std::string_view name);
std::vector<std::string> resource_names();

// The number in a field of a GPU: "sub_core.alu.scale". Nothing where the field is not set.
std::optional<double> number_at(const Gpu& gpu, std::string_view path);

// The settings that multiply what `gpu` has of a resource: "gpu.sm.tensor.scale=2". A factor that the GPU has already is
// multiplied.
std::vector<std::string> scaled_by(const Gpu& gpu, const ScalableResource& resource, double factor);

// A GPU with its capacity_scale factors multiplied in: what CTAs and policies find. Programs are made for the GPU as it is.
Gpu with_scaled_capacities(Gpu gpu);

}  // namespace warpfold::configs
