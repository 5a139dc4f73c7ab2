#include "configs/operator_kernels.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "configs/places.h"
#include "configs/read_file.h"
#include "configs/text.h"

namespace warpfold::configs {

namespace {

std::optional<Finding> find_fault(const OperatorKernels& table) {
  for (int k = 0; k < table.kernel_size(); ++k) {
    const std::string path = "kernel[" + std::to_string(k) + "]";
    const OperatorKernel& kernel = table.kernel(k);
    if (kernel.operator__size() == 0) return Finding{path, "a kernel of the table does no operator"};
    if (!kernel.has_launch()) return Finding{path, "a kernel of the table needs a launch"};
    for (int s = 0; s < kernel.size_size(); ++s) {
      const std::string size = path + ".size[" + std::to_string(s) + "]";
      if (!kernel.size(s).has_path()) return Finding{size, "a size has no path"};
      if (kernel.size(s).has_divide() && kernel.size(s).divide() == 0)
        return Finding{size + ".divide", "divide must be at least 1, not 0"};
    }
  }
  return std::nullopt;
}

}  // namespace

Expected<OperatorKernels> load_operator_kernels(const std::string& path) {
  namespace fs = std::filesystem;
  const auto text = read_file(path);
  if (!text) return std::unexpected(text.error());
  OperatorKernels table;
  Places places;
  auto locations = std::make_unique<google::protobuf::TextFormat::ParseInfoTree>();
  if (auto parsed = parse_located_text(path, *text, table, *locations); !parsed) return std::unexpected(parsed.error());
  places.add_file(path, "", *OperatorKernels::descriptor(), std::move(locations));
  if (const auto fault = find_fault(table)) return places.fail(*fault);
  for (OperatorKernel& kernel : *table.mutable_kernel()) {
    const fs::path folder = fs::path(path).parent_path();
    if (kernel.has_listing()) kernel.set_listing((folder / kernel.listing()).lexically_normal().string());
    kernel.set_launch((folder / kernel.launch()).lexically_normal().string());
  }
  return table;
}

}  // namespace warpfold::configs
