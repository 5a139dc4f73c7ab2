#include "configs/merge.h"

#include <google/protobuf/descriptor.h>

#include <vector>

namespace warpfold::configs {

namespace {

namespace pb = google::protobuf;

void clear_replaced(const pb::Message& derived, pb::Message& merged) {
  const pb::Reflection& reflection = *derived.GetReflection();
  std::vector<const pb::FieldDescriptor*> fields;
  reflection.ListFields(derived, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    if (field->is_repeated()) {
      reflection.ClearField(&merged, field);
    } else if (field->message_type() != nullptr && reflection.HasField(merged, field)) {
      clear_replaced(reflection.GetMessage(derived, field), *reflection.MutableMessage(&merged, field));
    }
  }
}

}  // namespace

void merge_over(pb::Message& merged, const pb::Message& derived) {
  clear_replaced(derived, merged);
  merged.MergeFrom(derived);
}

}  // namespace warpfold::configs
