#include "tools/validation/gpu_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace warpfold::validation {

namespace {

struct PublishedName {
  std::string_view name;
  std::string_view file;
};

// As data sheets, drivers and papers print them. A bare "H100" is taken as the SXM part: assumed, for most published figures are of
// it. Not here, because another memory or power limit makes it another GPU: A100 40GB (1555 GB/s), H100 96GB, H20, GH200.
constexpr std::array kNames{
    PublishedName{"A100", "a100_sxm"},
    PublishedName{"A100 80GB", "a100_sxm"},
    PublishedName{"A100 80GB SXM", "a100_sxm"},
    PublishedName{"A100 80GB SXM4", "a100_sxm"},
    PublishedName{"A100 SXM (80GB)", "a100_sxm"},
    PublishedName{"A100 SXM4 80GB", "a100_sxm"},
    PublishedName{"A100-SXM4-80GB", "a100_sxm"},
    PublishedName{"H100", "h100_sxm"},
    PublishedName{"H100 (SXM)", "h100_sxm"},
    PublishedName{"H100 (SXM implied)", "h100_sxm"},
    PublishedName{"H100 (SXM, per blog; README says H100)", "h100_sxm"},
    PublishedName{"H100 (Meta; SKU/power not stated)", "h100_sxm"},
    PublishedName{"H100 (inferred from level; not printed in excerpt)", "h100_sxm"},
    PublishedName{"H100 80GB HBM3", "h100_sxm"},
    PublishedName{"H100 80GB SXM", "h100_sxm"},
    PublishedName{"H100 80GB SXM5", "h100_sxm"},
    PublishedName{"H100 SXM", "h100_sxm"},
    PublishedName{"H100 SXM (HBM3 3.35 TB/s)", "h100_sxm"},
    PublishedName{"H100 SXM5", "h100_sxm"},
    PublishedName{"H100 SXM5 80GB", "h100_sxm"},
    PublishedName{"GH100", "h100_sxm"},
    PublishedName{"H100 PCIe", "h100_pcie"},
    PublishedName{"H100 PCIe 80GB", "h100_pcie"},
    PublishedName{"H200", "h200_sxm"},
    PublishedName{"H200 (sm90)", "h200_sxm"},
    PublishedName{"H200 SXM", "h200_sxm"},
    PublishedName{"H200 SXM5 141GB", "h200_sxm"},
    PublishedName{"H800", "h800_sxm"},
    PublishedName{"H800 SXM", "h800_sxm"},
    PublishedName{"H800 SXM5", "h800_sxm"},
    PublishedName{"H800 SXM5 80GB", "h800_sxm"},
    PublishedName{"RTX A6000", "rtx_a6000"},
    PublishedName{"B200", "b200"},
    PublishedName{"GB300 (MFU base 2500 TF, inferred)", "gb300"},
};

bool is_file_name(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](unsigned char c) { return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_'; });
}

}  // namespace

std::optional<std::string> gpu_file_of(std::string_view published) {
  constexpr std::string_view kMaker = "NVIDIA ";
  if (published.starts_with(kMaker)) published.remove_prefix(kMaker.size());
  if (is_file_name(published)) return std::string(published);
  const auto found = std::ranges::find(kNames, published, &PublishedName::name);
  if (found == kNames.end()) return std::nullopt;
  return std::string(found->file);
}

}  // namespace warpfold::validation
