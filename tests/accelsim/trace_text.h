#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "traces/accelsim/importer.h"

// Traces for tests, written line by line.
namespace warpfold::test {

// A header of `version`; lines of `more` follow it.
std::string trace_header(int version = 5, uint64_t ctas = 1, uint64_t threads = 32, std::string_view more = "");
// A thread block of a .traceg: the lines of each warp.
std::string thread_block(uint64_t cta, const std::vector<std::string>& warps);

Expected<traces::accelsim::ImportedKernel> import_text(const std::string& text, const std::string& architecture = "");
// The same for a text that must be right; throws the error message.
traces::Kernel imported(const std::string& text);

// How often each warp of each CTA issues each opcode (with its modifiers), from the rolled kernel.
using OpcodeCounts = std::map<std::string, uint64_t>;
OpcodeCounts counts_of(const traces::Kernel& kernel, const traces::Role& role, const traces::CtaClass& cta_class);

// The opcodes of a warp, expanded.
std::vector<std::string> opcodes_of(const traces::Kernel& kernel, const traces::Role& role, const traces::CtaClass& cta_class);

}  // namespace warpfold::test
