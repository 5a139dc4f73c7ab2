#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "tools/knobs/findings.h"

// Reasons for anomalies and inert fields: the sentences of docs/knobs.md that no simulation can write.
namespace warpfold::knobs {

struct Mechanism {
  std::string_view name;
  std::string_view text;
};
std::span<const Mechanism> mechanisms();

// Returns the mechanism of an anomaly; empty if the page has none for it.
std::optional<std::string_view> mechanism_of(const Anomaly& anomaly);

// Returns the reason why a field moves no scenario, or why no factor of it runs; empty if no reason is known.
std::optional<std::string_view> why_inert(std::string_view field);

}  // namespace warpfold::knobs
