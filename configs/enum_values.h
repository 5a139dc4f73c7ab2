#pragma once

#include <array>
#include <cstddef>
#include <source_location>
#include <string_view>

// Arrays with one element for each value of an enum, whose number of values is counted by the compiler.
namespace warpfold {

// Compilers print a value without a name as a cast: "(warpfold::isa::Pipe)11", one with a name as "warpfold::isa::Pipe::kAlu".
template <auto Value>
consteval bool is_enumerator() {
  const std::string_view function = std::source_location::current().function_name();
  return function[function.find("Value = ") + 8] != '(';
}

// Values of an enum that counts from 0 without gaps.
template <typename Enum, size_t Values = 0>
consteval size_t enum_size() {
  if constexpr (is_enumerator<static_cast<Enum>(Values)>()) {
    return enum_size<Enum, Values + 1>();
  } else {
    return Values;
  }
}

template <typename Enum, typename Value>
struct EnumEntry {
  Enum key;
  Value value;
};

// The values in order of their keys. Stops the build where an enumerator has no entry or more than one:
//
//   constexpr auto kNames = by_enum<ResourceKind, std::string_view>({{kRate, "rate"}, {kLatency, "latency"}, ...});
template <typename Enum, typename Value, size_t Entries>
consteval std::array<Value, enum_size<Enum>()> by_enum(const EnumEntry<Enum, Value> (&entries)[Entries]) {
  static_assert(Entries == enum_size<Enum>(), "an enumerator has no entry, or one too many");
  std::array<Value, Entries> values{};
  std::array<bool, Entries> seen{};
  for (const EnumEntry<Enum, Value>& entry : entries) {
    const auto at = static_cast<size_t>(entry.key);
    if (seen[at]) throw "an enumerator has two entries";
    seen[at] = true;
    values[at] = entry.value;
  }
  return values;
}

}  // namespace warpfold
