#include "configs/base_chain.h"

#include <google/protobuf/descriptor.h>

#include <memory>

#include "configs/kernel_launch.pb.h"
#include "configs/lengths.h"
#include "configs/merge.h"
#include "configs/model.pb.h"
#include "configs/read_file.h"
#include "configs/scenario.pb.h"
#include "configs/scenario_changes.h"
#include "configs/search_path.h"
#include "configs/text.h"

namespace warpfold::configs {

namespace {

namespace fs = std::filesystem;
namespace pb = google::protobuf;

void rebase_paths(pb::Message& message, const fs::path& from, const fs::path& to) {
  auto* scenario = dynamic_cast<Scenario*>(&message);
  if (scenario == nullptr) return;
  if (scenario->has_gpu_file()) scenario->set_gpu_file(rebased(scenario->gpu_file(), from, to));
  if (scenario->block().has_model()) scenario->mutable_block()->set_model(rebased(scenario->block().model(), from, to));
  for (Kernel& kernel : *scenario->mutable_kernel()) rebase_paths(kernel, from, to);
}

// The folder of configurations that has files of the message's type.
std::string_view kind_of(const pb::Message& message) {
  if (message.GetDescriptor() == Gpu::descriptor()) return "gpus";
  if (message.GetDescriptor() == TransformerModel::descriptor()) return "models";
  return message.GetDescriptor() == Scenario::descriptor() ? "scenarios" : "kernels";
}

}  // namespace

Expected<void> BaseChain::load(const std::string& path, const Diagnostic& wanted_by) {
  const std::string file = fs::path(path).lexically_normal().string();
  if (files_.empty()) folder_ = fs::path(file).parent_path();
  std::error_code ignored;  // a missing file is reported when it is read
  const fs::path identity = fs::weakly_canonical(file, ignored);
  for (const auto& open : files_) {
    if (open.second == identity) return cycle(file, wanted_by);
  }
  files_.emplace_back(file, identity);

  const auto text = read_file(file);
  if (!text) return fail_at(wanted_by.file, wanted_by.line, wanted_by.column, text.error().message);
  const std::unique_ptr<pb::Message> own(merged_.New());
  auto locations = std::make_unique<pb::TextFormat::ParseInfoTree>();
  if (auto parsed = parse_located_text(file, *text, *own, *locations); !parsed) return parsed;
  if (auto* launch = dynamic_cast<KernelLaunch*>(own.get()); launch != nullptr) {
    if (auto read = read_lengths(*launch, file, *locations); !read) return read;
  }
  if (auto merged = load_base(file, *own, *locations); !merged) return merged;

  rebase_paths(*own, fs::path(file).parent_path(), folder_);
  if (changes_ == nullptr) {
    merge_over(merged_, *own);
    places_.add_file(file, prefix_, *merged_.GetDescriptor(), std::move(locations));
    return {};
  }
  const auto given = dynamic_cast<const Scenario&>(*own);
  dynamic_cast<Scenario&>(*own).clear_set();
  dynamic_cast<Scenario&>(*own).clear_unset();
  merge_over(merged_, *own);
  places_.supersede(prefix_, *own);
  const pb::TextFormat::ParseInfoTree& written = *locations;
  places_.add_file(file, prefix_, *merged_.GetDescriptor(), std::move(locations));
  return changes_->merged(given, file, folder_, written);
}

Expected<void> BaseChain::load_base(const std::string& file, pb::Message& own, const pb::TextFormat::ParseInfoTree& locations) {
  const pb::FieldDescriptor* field = own.GetDescriptor()->FindFieldByName("base");
  const pb::Reflection& reflection = *own.GetReflection();
  if (!reflection.HasField(own, field)) return {};
  const std::string base = reflection.GetString(own, field);
  reflection.ClearField(&own, field);
  const auto place = locations.GetLocation(field, -1);
  const Diagnostic wanted_by{file, place.line + 1, place.column + 1, {}};
  const auto found = find_beside(fs::path(file).parent_path(), base, kind_of(own));
  if (!found) return fail_at(wanted_by.file, wanted_by.line, wanted_by.column, found.error().message);
  return load(*found, wanted_by);
}

Expected<void> BaseChain::cycle(const std::string& file, const Diagnostic& wanted_by) const {
  std::string chain;
  for (const auto& open : files_) chain += open.first + " -> ";
  return fail_at(wanted_by.file, wanted_by.line, wanted_by.column, "base: files form a cycle: " + chain + file);
}

}  // namespace warpfold::configs
