#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/generated_enum_reflection.h>

#include <vector>

namespace warpfold::test {

// Returns all values of a schema's enum. A generator that draws from them also draws values that are added later.
template <typename Enum>
std::vector<Enum> values_of() {
  const google::protobuf::EnumDescriptor& type = *google::protobuf::GetEnumDescriptor<Enum>();
  std::vector<Enum> values;
  for (int v = 0; v < type.value_count(); ++v) values.push_back(static_cast<Enum>(type.value(v)->number()));
  return values;
}

}  // namespace warpfold::test
