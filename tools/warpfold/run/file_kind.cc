#include "tools/warpfold/run/file_kind.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "configs/gemm_library.pb.h"
#include "configs/layer.pb.h"
#include "configs/load.h"
#include "configs/model.pb.h"
#include "configs/operator_kernels.pb.h"
#include "configs/read_file.h"
#include "configs/report.pb.h"
#include "configs/search_path.h"
#include "configs/validation.pb.h"
#include "tools/profile/nsight_reader.h"
#include "tools/report/json_reader.h"
#include "tools/validation/csv.h"
#include "tools/warpfold/run/minimal_scenario.h"

namespace warpfold::cli {

namespace {

namespace fs = std::filesystem;
namespace pb = google::protobuf;

struct Known {
  FileKind kind;
  std::string_view words;
  std::string_view several;
  std::string_view takers;  // commands and options that take the kind
  std::string_view folder;  // folder of configurations of this kind; empty: the kind has none
  const pb::Message* schema = nullptr;
};

const std::array<Known, 13>& known_kinds() {
  static const std::array<Known, 13> kinds{
      Known{FileKind::kScenario, "a scenario", "scenarios", "simulate, compare, whatif, hot, cycles, model, roofline and trace write",
            "scenarios", &configs::Scenario::default_instance()},
      Known{FileKind::kGpu, "a GPU", "GPUs", "gpu show and --gpu", "gpus", &configs::Gpu::default_instance()},
      Known{FileKind::kStudy, "a study", "studies", "study", "studies", &configs::Study::default_instance()},
      Known{FileKind::kModel, "a model card", "model cards", "layer and compare block --model", "models",
            &configs::TransformerModel::default_instance()},
      Known{FileKind::kLaunch, "a launch description", "launch descriptions", "import LISTING --launch", "kernels",
            &configs::KernelLaunch::default_instance()},
      Known{FileKind::kOperators, "a table of operators' listings", "such tables", "layer --kernels", "",
            &configs::OperatorKernels::default_instance()},
      Known{FileKind::kLibrary, "a library of GEMM kernels", "libraries", "the build, which puts it into the program,", "",
            &configs::GemmLibraries::default_instance()},
      Known{FileKind::kTrace, "a trace", "traces", "trace dump, trace stats and trace { path: ... } of a scenario's kernel", ""},
      Known{FileKind::kListing, "a SASS listing", "listings", "import and listing { path: ... } of a scenario's kernel", ""},
      Known{FileKind::kRecorded, "a trace of Accel-Sim's tracer", "its traces", "import-trace", ""},
      Known{FileKind::kMeasurements, "a table of measurements", "measurements", "validate", ""},
      Known{FileKind::kResult, "a result", "results", "report", ""},
      Known{FileKind::kProfile, "a profile of torch.profiler or Nsight", "profiles", "profile and validate --profile", ""},
  };
  return kinds;
}

const Known* known(FileKind kind) {
  const auto found = std::ranges::find(known_kinds(), kind, &Known::kind);
  return found == known_kinds().end() ? nullptr : &*found;
}

struct Parsed {
  const Known* known;
  bool whole;
  std::tuple<int, int> reached;  // line and column of the first error
  std::string base;
};

Parsed parse_as(const Known& kind, const std::string& path, const std::string& text) {
  const std::unique_ptr<pb::Message> message(kind.schema->New());
  const auto parsed = configs::parse_text(path, text, *message);
  if (!parsed) return {&kind, false, {parsed.error().line, parsed.error().column}, {}};
  const pb::FieldDescriptor* base = message->GetDescriptor()->FindFieldByName("base");
  return {&kind, true, {0, 0}, base == nullptr ? "" : message->GetReflection()->GetString(*message, base)};
}

struct Guess {
  FileKind kind = FileKind::kUnknown;
  bool whole = false;  // parsed without error, and no other kind is possible
};

Guess guess(const std::string& path, int depth);

// Returns the kind of the file's base, if the file itself could be of several kinds. None if the file names no base, or if the base
// does not exist.
std::optional<FileKind> kind_of_base(const std::vector<Parsed>& could_be, const std::string& path, int depth) {
  constexpr int kDeepest = 64;  // limits the depth of a cycle of bases, which loading reports
  const std::string& base = could_be.front().base;
  if (base.empty() || depth == kDeepest) return std::nullopt;
  const std::string beside = (fs::path(path).parent_path() / base).string();
  std::error_code missing;
  if (fs::is_regular_file(beside, missing)) return guess(beside, depth + 1).kind;
  for (const Parsed& each : could_be) {
    if (!each.known->folder.empty() && configs::is_config_name(base) && configs::find_config(base, each.known->folder))
      return each.known->kind;
  }
  return std::nullopt;
}

Guess guess_text_format(const std::string& path, const std::string& text, int depth) {
  std::vector<Parsed> all;
  for (const Known& kind : known_kinds()) {
    if (kind.schema != nullptr) all.push_back(parse_as(kind, path, text));
  }
  std::vector<Parsed> whole;
  std::ranges::copy_if(all, std::back_inserter(whole), &Parsed::whole);
  if (whole.size() == 1) return {whole.front().known->kind, true};
  if (!whole.empty()) {
    const auto kind = kind_of_base(whole, path, depth);
    return {kind.value_or(whole.front().known->kind), kind.has_value()};
  }
  return {std::ranges::max_element(all, {}, &Parsed::reached)->known->kind, false};
}

// Returns whether a text is a saved result: a JSON object with at least one key, all of which one kind of result has.
bool is_result(const std::string& text) {
  const std::vector<std::string> keys = report::top_keys(text);
  const std::array<const pb::Descriptor*, 6> types{configs::Result::descriptor(),      configs::Comparison::descriptor(),
                                                   configs::Difference::descriptor(),  configs::StudyPoint::descriptor(),
                                                   configs::LayerReport::descriptor(), configs::Validation::descriptor()};
  return std::ranges::any_of(types, [&](const pb::Descriptor* type) {
    return !keys.empty() &&
           std::ranges::all_of(keys, [&](const std::string& key) { return type->FindFieldByName(key) != nullptr; });
  });
}

bool is_profile(const std::string& text) {
  const std::vector<std::string> keys = report::top_keys(text);
  return std::ranges::find(keys, "traceEvents") != keys.end();
}

bool is_measurements(const std::string& path, const std::string& text) {
  const auto table = validation::parse_csv(path, text);
  if (!table) return false;
  const auto has = [&](std::string_view name) {
    return std::ranges::find(table->header, name, &validation::CsvCell::text) != table->header.end();
  };
  return has("gpu") && has("category") && (has("value") || has("time_ms"));
}

bool is_listing(const std::string& text) {
  return text.find("/*0000*/") != std::string::npos || text.find("Function : ") != std::string::npos ||
         text.find(".headerflags") != std::string::npos;
}

bool is_recorded(const std::string& extension, const std::string& text) {
  return extension == ".traceg" || extension == ".tracez" || extension == ".g" || text.starts_with("-kernel name =");
}

Guess guess(const std::string& path, int depth) {
  const std::string extension = fs::path(path).extension().string();
  if (extension == ".wft" || extension == ".wfs") return {FileKind::kTrace, true};
  if (extension == ".sqlite") return {FileKind::kProfile, true};
  const auto text = read_file(path);
  if (!text) return {};
  if (is_recorded(extension, *text)) return {FileKind::kRecorded, true};
  if (extension == ".json" && is_result(*text)) return {FileKind::kResult, true};
  if (extension == ".json") return is_profile(*text) ? Guess{FileKind::kProfile, true} : Guess{};
  if (extension == ".csv" && profile::is_nsight_table(*text)) return {FileKind::kProfile, true};
  if (extension == ".csv") return is_measurements(path, *text) ? Guess{FileKind::kMeasurements, true} : Guess{};
  if (is_listing(*text)) return {FileKind::kListing, true};
  return guess_text_format(path, *text, depth);
}

std::unexpected<Failure> wrong_kind(const std::string& what, FileKind is, FileKind wanted, const std::string& asks) {
  return user_error(what + " is " + std::string(words_of(is)) + ", and " + asks + " takes " + std::string(words_of(wanted)) + "; " +
                    std::string(known(is)->several) + " are for " + std::string(known(is)->takers) +
                    (wanted == FileKind::kScenario ? minimal_scenario(is, what) : ""));
}

}  // namespace

std::string_view words_of(FileKind kind) { return kind == FileKind::kUnknown ? "a file of no known kind" : known(kind)->words; }

Outcome<FileKind> kind_of_file(const std::string& path) {
  if (const auto readable = read_file(path); !readable) return std::unexpected(Failure(readable.error()));
  return guess(path, 0).kind;
}

Outcome<std::string> find_of_kind(const std::string& named, FileKind wanted, const std::string& asks) {
  const std::string_view folder = known(wanted)->folder;
  const auto found = folder.empty() ? Expected<std::string>(named) : configs::find_config(named, folder);
  if (!found) {
    for (const Known& other : known_kinds()) {
      const auto file = other.folder.empty() || other.folder == folder ? std::unexpected(found.error())
                                                                       : configs::find_config(named, other.folder);
      const FileKind is = file ? guess(*file, 0).kind : FileKind::kUnknown;
      if (is != FileKind::kUnknown && is != wanted) return wrong_kind(named, is, wanted, asks);
    }
    return std::unexpected(Failure(found.error()));
  }
  std::error_code missing;
  if (!fs::is_regular_file(*found, missing)) return *found;
  const Guess is = guess(*found, 0);
  if (is.whole && is.kind != wanted && is.kind != FileKind::kUnknown) return wrong_kind(*found, is.kind, wanted, asks);
  return *found;
}

Outcome<configs::Gpu> find_gpu(const std::string& named, const std::string& asks) {
  const auto file = find_of_kind(named, FileKind::kGpu, asks);
  if (!file) return std::unexpected(file.error());
  auto gpu = configs::load_gpu(*file);
  if (!gpu) return std::unexpected(Failure(gpu.error()));
  return std::move(*gpu);
}

}  // namespace warpfold::cli
