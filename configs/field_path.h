#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::configs {

// One field of a message or one element of a list, by the steps from the root.
struct FieldPath {
  struct Step {
    const google::protobuf::FieldDescriptor* field = nullptr;
    int index = -1;  // index of an element; -1: the field, or the list as a whole
  };
  std::vector<Step> steps;

  const Step& last() const { return steps.back(); }
  // "kernel[0].philox.rounds"
  std::string text() const;
};

// Returns the fields and elements that a path names, at least one. Steps are names of fields. An element of a list of
// groups is named by its `name` (reservations: `kernel`) or its index: kernel.rng.philox.rounds,
// kernel.0.philox.rounds, kernel[0].philox.rounds. `*` matches any letters: kernel.*.hopper_gemm.type and
// kernel.fc*.hopper_gemm.type are fields of the kernels that have a hopper_gemm, gpu.sm.*.scale of the groups that are
// set and have a scale.
// Fails for a name that the schema or the message does not have, with the nearest name; for a workload other than the
// kernel's own; for a path with `*` that matches no field.
Expected<std::vector<FieldPath>> find_fields(const google::protobuf::Message& root, std::string_view path);

// Returns the elements of a list of groups that a name, an index or a pattern selects, ascending; at least one.
Expected<std::vector<int>> find_elements(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
                                         const std::string& selector);

bool has_wildcard(std::string_view path);

}  // namespace warpfold::configs
