#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::configs {

// One field of a message or one element of a list, by the way that leads there from the root.
struct FieldPath {
  struct Step {
    const google::protobuf::FieldDescriptor* field = nullptr;
    int index = -1;  // of an element; -1: the field, or the list as a whole
  };
  std::vector<Step> steps;

  const Step& last() const { return steps.back(); }
  // "kernel[0].philox.rounds"
  std::string text() const;
};

// The fields and elements that a path means, at least one. Steps are names of fields; an element of a list of groups is named by
// its `name` (reservations: `kernel`) or its index: kernel.rng.philox.rounds, kernel.0.philox.rounds, kernel[0].philox.rounds.
// `*` stands for any letters: kernel.*.hopper_gemm.type and kernel.fc*.hopper_gemm.type are fields of those kernels that have a
// hopper_gemm, gpu.sm.*.scale of those groups that are there and have a scale. Fails for a name that the schema or the message does
// not have, with the nearest one; for a workload other than the kernel's own; for a path with `*` that means no field.
Expected<std::vector<FieldPath>> find_fields(const google::protobuf::Message& root, std::string_view path);

// The elements of a list of groups that a name, an index or a pattern means, ascending; at least one.
Expected<std::vector<int>> find_elements(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
                                         const std::string& selector);

bool has_wildcard(std::string_view path);

}  // namespace warpfold::configs
