#include "configs/flat_fields.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>

namespace warpfold::configs {

namespace {

namespace pb = google::protobuf;

void add_fields(const pb::Message& message, const std::string& prefix, std::vector<FlatField>& fields) {
  const pb::Descriptor& type = *message.GetDescriptor();
  const pb::Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::FieldDescriptor& field = *type.field(i);
    if (field.is_repeated() || !reflection.HasField(message, &field)) continue;
    const std::string path = prefix + field.name();
    if (field.message_type() != nullptr) {
      add_fields(reflection.GetMessage(message, &field), path + ".", fields);
      continue;
    }
    std::string value;
    pb::TextFormat::PrintFieldValueToString(message, &field, -1, &value);
    fields.push_back({path, value});
  }
}

}  // namespace

std::vector<FlatField> flat_fields(const pb::Message& message) {
  std::vector<FlatField> fields;
  add_fields(message, "", fields);
  return fields;
}

}  // namespace warpfold::configs
