#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "traces/kernel.h"

namespace warpfold::traces {

// A small GEMM for sm_90 with everything a kernel can have: nested loops of fixed and ragged length, rings, cursors, streams,
// classes, clusters, an effect of every key. In the form that format_kernels prints.
extern const std::string kSampleText;

// kSampleText as a kernel.
Kernel sample();

// One instruction for sm_90.
isa::Instruction instruction(std::string_view text);

// A folder of its own, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(std::string_view name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string read_bytes(const std::string& path);
void write_bytes(const std::string& path, std::string_view bytes);

}  // namespace warpfold::traces
