#include "tests/fuzz/round_trip.h"

#include "traces/stats.h"
#include "traces/trace_encoding.h"
#include "traces/trace_file.h"

namespace warpfold::fuzz {

void require_round_trip(const std::vector<traces::Kernel>& kernels) {
  const std::string text = traces::format_kernels(kernels);
  const auto from_text = traces::parse_kernels("again.wfs", text);
  require(from_text.has_value(), from_text ? "" : "a trace's text cannot be read: " + from_text.error().text());
  require(*from_text == kernels, "a trace's text says other kernels");
  require(traces::format_kernels(*from_text) == text, "a trace's text is another the second time");
  for (const traces::Kernel& kernel : kernels) {
    require(traces::statistics(kernel).instructions.issued == traces::issued_instructions(kernel), "counts differ");
    if (kernel.architecture != kernels.front().architecture) return;
  }
  const auto content = traces::encode_kernels("again.wft", kernels);
  require(content.has_value(), content ? "" : "a trace cannot be written: " + content.error().text());
  const auto from_file = traces::decode_kernels("again.wft", *content);
  require(from_file.has_value(), from_file ? "" : "a trace's file cannot be read: " + from_file.error().text());
  require(*from_file == kernels, "a trace's file says other kernels");
}

}  // namespace warpfold::fuzz
