#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "tools/knobs/findings.h"

// Why anomalies and inert fields are as they are: the sentences of docs/knobs.md that no simulation writes.
namespace warpfold::knobs {

struct Mechanism {
  std::string_view name;
  std::string_view text;
};
std::span<const Mechanism> mechanisms();

// Nothing if the page has no mechanism for it.
std::optional<std::string_view> mechanism_of(const Anomaly& anomaly);

// Why a field moves no scenario, or why no factor of it runs. Nothing if no reason is known.
std::optional<std::string_view> why_inert(std::string_view field);

}  // namespace warpfold::knobs
