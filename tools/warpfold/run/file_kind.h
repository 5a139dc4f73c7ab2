#pragma once

#include <string>
#include <string_view>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// What a file is that a command takes or writes.
enum class FileKind {
  kUnknown,
  kScenario,
  kGpu,
  kStudy,
  kModel,
  kLaunch,        // of a listing
  kOperators,     // listings that run operators of a layer
  kLibrary,       // GEMM kernels of a library
  kTrace,         // .wft, .wfs
  kListing,       // SASS
  kRecorded,      // by Accel-Sim's tracer
  kMeasurements,  // CSV
  kResult,        // JSON that a command wrote
  kProfile,       // of torch.profiler, Nsight Systems or Nsight Compute
};

// "a model card"
std::string_view words_of(FileKind kind);

// By the ending of its name and by what it holds. Text-format files are of the kind whose schema they follow, with a mistake of the
// one that they follow furthest; with nothing but fields that several have, of the kind of their base. Fails for a file that cannot
// be read.
Outcome<FileKind> kind_of_file(const std::string& path);

// The file that `named`, a file or the name of a configuration, means for a command that takes files of `wanted`. Where it is whole
// and of another kind, or a name that another kind of configuration has, the failure says of which and what takes it. `asks`: the
// command or option, as messages name it: "simulate", "--gpu".
Outcome<std::string> find_of_kind(const std::string& named, FileKind wanted, const std::string& asks);

}  // namespace warpfold::cli
