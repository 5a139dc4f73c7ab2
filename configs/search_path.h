#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"

namespace warpfold::configs {

// Returns the folders of configurations in the order of search. Each has gpus, scenarios, studies, models and kernels
// in it.
// 1. the folders of WARPFOLD_PATH, with colons between them;
// 2. configs below the current folder;
// 3. the program's own: share/warpfold/configs beside the folder in which it is installed, or configs of the source tree
//    in which it was built.
std::vector<std::filesystem::path> config_folders();

// Sets the program's own folder of configurations. An extension module, which is no program, has its data beside
// itself.
void set_config_folder(const std::filesystem::path& folder);

// Returns whether a text may be the name of a configuration: "h100_sxm" is gpus/h100_sxm.textproto, "rms_norm" is
// kernels/operators/rms_norm.textproto. Such a name has neither a folder nor an ending.
bool is_config_name(const std::string& named);

// Returns the file that `named` means among the files of one kind (gpus, scenarios, studies, models). The path of an
// existing file means itself. A name, with - or _, is searched in config_folders(), and so is a path below configs/.
// Any other path is returned unchanged; reading it reports the fault. Fails for a name that no folder has, with the
// nearest name.
Expected<std::string> find_config(const std::string& named, std::string_view kind);

// The same for a name in a file of `folder`. The named file may lie in that folder.
Expected<std::string> find_beside(const std::filesystem::path& folder, const std::string& named, std::string_view kind);

// Returns the files of one kind, by name. They lie in the folder of the kind or in a folder below it. If two folders
// have a name, the first file counts; the folder of the kind comes before the folders below it.
std::vector<std::filesystem::path> config_files(std::string_view kind);

}  // namespace warpfold::configs
