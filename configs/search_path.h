#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::configs {

// Folders of configurations, each with gpus, scenarios, studies, models and kernels in it, the first to be looked in first: those
// of WARPFOLD_PATH (colons between them), configs below the current folder, and the program's own: share/warpfold/configs beside
// the folder that it is installed in, or configs of the source tree that it was built in.
std::vector<std::filesystem::path> config_folders();

// The program's own folder of configurations, where it is not a program: an extension module has its data beside itself.
void set_config_folder(const std::filesystem::path& folder);

// A file of a folder of configurations may be given by its name alone: "h100_sxm" is gpus/h100_sxm.textproto, "rms_norm" is
// kernels/operators/rms_norm.textproto. Neither a folder nor an ending is part of such a name.
bool is_config_name(const std::string& named);

// The file that `named` means among the files of one kind (gpus, scenarios, studies, models). A file that is there is itself; a
// name, in which - may stand for _, is looked for in config_folders(), and so is a path below configs/, wherever that is. Another
// path is given back as it is: reading it says what is wrong. Fails for a name that no folder has, with the nearest that one has.
Expected<std::string> find_config(const std::string& named, std::string_view kind);

// The same, of what is written in a file of `folder`: it may lie beside that one.
Expected<std::string> find_beside(const std::filesystem::path& folder, const std::string& named, std::string_view kind);

// Files of one kind, by name. They lie in the folder of the kind or in a folder below it. If two folders have a name, the first
// file counts; the folder of the kind comes before those below it.
std::vector<std::filesystem::path> config_files(std::string_view kind);

}  // namespace warpfold::configs
