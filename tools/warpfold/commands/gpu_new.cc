#include <google/protobuf/text_format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "configs/escape/quoted.h"
#include "configs/escape/visible.h"
#include "configs/gpu_balance.h"
#include "configs/load.h"
#include "configs/merge.h"
#include "configs/search_path.h"
#include "configs/settings.h"
#include "isa/architecture.h"
#include "tools/warpfold/commands/commands.h"
#include "tools/warpfold/figures/new_gpu.h"
#include "tools/warpfold/run/file_kind.h"

namespace warpfold::cli {

namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;

Expected<void> apply(const std::string& setting, configs::Gpu& gpu) {
  const std::string place = "--set " + escape::unquoted(setting);
  const size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) return fail_at(place, 0, 0, "expected FIELD=VALUE");
  const auto resolved = configs::set_field(gpu, setting.substr(0, equals), setting.substr(equals + 1));
  if (!resolved) return fail_at(place, 0, 0, resolved.error().message);
  if (*resolved == "base" || *resolved == "name") return fail_at(place, 0, 0, *resolved + " is an argument of its own");
  return {};
}

// Checks that the base with `own` merged over it is complete and consistent. `file` is the path that messages name. Returns notes
// for the user.
Outcome<std::string> check_merged(const std::string& base, const configs::Gpu& own, const std::string& file) {
  auto merged = configs::load_gpu(base);
  const auto before = merged;
  if (!merged) return std::unexpected(Failure(merged.error()));
  configs::merge_over(*merged, own);
  if (const auto checked = configs::check_gpu(*merged, file); !checked) return std::unexpected(Failure(checked.error()));
  const auto architecture = isa::Architecture::find(merged->architecture());
  if (!architecture) return user_error(file + ": " + architecture.error().message);
  if (const auto fault = configs::find_imbalance(*merged)) return user_error(file + ": " + fault->message);
  std::string notes;
  std::vector<std::string> lines = configs::starved_since(*merged, *before);
  std::ranges::copy(assumptions_of_new_gpu(*merged, own, *before, **architecture), std::back_inserter(lines));
  for (const std::string& line : lines) notes += file + ": " + line + "\n";
  return notes;
}

}  // namespace

Outcome<void> gpu_new(const Invocation& invocation) {
  Options options("warpfold gpu new NAME --base FILE --output FILE [options]",
                  "Writes a GPU file with the fields that differ from its base. An inconsistent GPU is refused. Named are tiles\n"
                  "with operands that the base could feed and this GPU cannot, assumptions that a bandwidth or a clock rests on,\n"
                  "and rates of pipes that whole cycles round.",
                  "  warpfold gpu new wide --base h100_sxm --set sm_count=264 --output wide.textproto\n");
  options.positional("NAME", 1, 1);
  options.add()("base", po::value<std::string>()->value_name("FILE"),
                "the GPU to start from: a file, or a name of `warpfold gpu list`");
  options.add()("set", po::value<std::vector<std::string>>()->composing()->value_name("FIELD=VALUE"),
                "a field that differs; repeatable");
  options.add()("output,o", po::value<std::string>()->value_name("FILE"), "the file to write");
  options.writes_file("output");
  if (auto parsed = options.parse(invocation.arguments); !parsed) return parsed;
  if (!options.has("base")) return user_error("gpu new: --base is missing");
  if (!options.has("output")) return user_error("gpu new: --output is missing");
  const auto base = find_of_kind(options.text("base"), FileKind::kGpu, "--base");
  if (!base) return std::unexpected(base.error());
  const std::string file = options.text("output");
  configs::Gpu own;
  const std::string name = options.arguments().front();
  if (const std::string why = escape::why_unprintable(name); !why.empty()) return user_error("gpu new: NAME: " + why);
  own.set_name(name);
  for (const std::string& setting : options.texts("set")) {
    if (auto applied = apply(setting, own); !applied) return std::unexpected(Failure(applied.error()));
  }
  const auto notes = check_merged(*base, own, file);
  if (!notes) return std::unexpected(notes.error());
  const fs::path folder = fs::absolute(file).parent_path();
  const bool by_name = *base != options.text("base") && configs::is_config_name(options.text("base"));
  own.set_base(by_name ? options.text("base") : fs::proximate(fs::absolute(*base), folder).lexically_normal().string());
  std::string text;
  google::protobuf::TextFormat::PrintToString(own, &text);
  if (auto written = write_output(file, text); !written || notes->empty()) return written;
  return write_output("", *notes);
}

}  // namespace warpfold::cli
