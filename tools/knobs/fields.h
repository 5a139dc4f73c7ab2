#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "configs/gpu.pb.h"

// The numeric fields of a GPU, found by reflection, and a table of their meaning.
namespace warpfold::knobs {

enum class Meaning {
  kMore,     // more is better: a rate, a capacity
  kLess,     // less is better: a latency, an interval
  kNeither,  // neither is better: a clock beside latencies in cycles, a granularity, a number that no simulation uses
};

// Meaning of a field that is not a scalable resource (configs/resources.h lists those).
struct FieldRow {
  std::string_view path;
  Meaning meaning;
  std::string_view together = "";  // fields that the checks tie to this one, with commas: they change by the same factor
};

// Every numeric field of configs/gpu.proto, in the schema's order. All elements of a list are one field: "power.point.*.voltage".
std::vector<std::string> numeric_fields();

std::span<const FieldRow> field_rows();
// Empty if the field is neither a resource nor in the table.
std::optional<Meaning> meaning_of(std::string_view path);

// The settings that multiply a field of `gpu`, and the fields tied to it, by `factor`: "gpu.sm.tensor.scale=2". Whole numbers are
// rounded. Empty if the GPU does not state the field, or if rounding leaves it unchanged. An absent scale factor counts as 1.
std::vector<std::string> settings_of(const configs::Gpu& gpu, std::string_view path, double factor);

}  // namespace warpfold::knobs
