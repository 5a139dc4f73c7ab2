#pragma once

#include <string>
#include <string_view>

#include "configs/gpu.pb.h"
#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// The kind of a file that a command takes or writes.
enum class FileKind {
  kUnknown,
  kScenario,
  kGpu,
  kStudy,
  kModel,
  kLaunch,        // launch description of a listing
  kOperators,     // table of the listings that run operators of a layer
  kLibrary,       // table of a library's GEMM kernels
  kTrace,         // .wft, .wfs
  kListing,       // SASS
  kRecorded,      // trace of Accel-Sim's tracer
  kMeasurements,  // CSV
  kResult,        // JSON that a command wrote
  kProfile,       // from torch.profiler, Nsight Systems or Nsight Compute
};

// Returns a kind in words: "a model card".
std::string_view words_of(FileKind kind);

// Returns the kind of a file, by its extension and its content. A text-format file is of the kind whose schema it follows. A file
// with an error is of the kind whose schema it follows furthest. If several schemas fit, the kind is that of the file's base. Fails
// if the file cannot be read.
Outcome<FileKind> kind_of_file(const std::string& path);

// Returns the file that `named` means: a file's path or a configuration's name, for a command that takes files of `wanted`. If the
// file parses as another kind, or if only another kind of configuration has the name, the failure names that kind and the commands
// that take it. `asks`: the command or option as messages name it, "simulate" or "--gpu".
Outcome<std::string> find_of_kind(const std::string& named, FileKind wanted, const std::string& asks);
// Finds a GPU in the same way and reads it.
Outcome<configs::Gpu> find_gpu(const std::string& named, const std::string& asks);

}  // namespace warpfold::cli
