#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "configs/gpu.pb.h"

// The numeric fields of a GPU, found by reflection, and the table of their meaning.
namespace warpfold::knobs {

enum class Meaning {
  kMore,     // more is better: a rate, a capacity
  kLess,     // less is better: a latency, an interval
  kNeither,  // another machine: a clock beside latencies in cycles, a granularity, a figure that nothing is simulated by
};

// Meaning of a field that no scalable resource names (configs/resources.h has the others).
struct FieldRow {
  std::string_view path;
  Meaning meaning;
  std::string_view together = "";  // fields that change by the same factor, with commas: the checks hold them to each other
};

// Every numeric field of configs/gpu.proto in the schema's order. A list's elements are one field: "power.point.*.voltage".
std::vector<std::string> numeric_fields();

std::span<const FieldRow> field_rows();
// Nothing if neither a resource nor a row has the field.
std::optional<Meaning> meaning_of(std::string_view path);

// The settings that multiply a field of `gpu` and the fields that change together with it: "gpu.sm.tensor.scale=2". Whole numbers
// are rounded. Empty if the GPU does not state the field or rounding leaves it as it is; a factor that is absent counts as 1.
std::vector<std::string> settings_of(const configs::Gpu& gpu, std::string_view path, double factor);

}  // namespace warpfold::knobs
