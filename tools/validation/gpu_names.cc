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

// As data sheets, drivers and papers print them; what stands in brackets behind a name, a power limit or a provider, may be left
// out. A bare "H100" is taken as the SXM part, a bare "V100" as the one of 16 GB: assumed, for most published figures are of them.
// Not here, because another memory makes it another GPU: H100 96GB (2.4 TB/s), GH200 of 141 GB (4.8 TB/s).
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
    PublishedName{"A100 40GB", "a100_sxm_40gb"},
    PublishedName{"A100-SXM4-40GB", "a100_sxm_40gb"},
    PublishedName{"A100 SXM4 40GB", "a100_sxm_40gb"},
    PublishedName{"H20", "h20"},
    PublishedName{"GH200", "gh200"},
    PublishedName{"GH200 480GB", "gh200"},
    PublishedName{"B200", "b200"},
    PublishedName{"B200 SXM", "b200"},
    PublishedName{"GB200", "gb200"},
    PublishedName{"B300", "b300"},
    PublishedName{"B300 SXM", "b300"},
    PublishedName{"B300 SXM6 AC", "b300"},
    PublishedName{"GB300", "gb300"},
    PublishedName{"GeForce RTX 3090", "rtx_3090"},
    PublishedName{"RTX 3090", "rtx_3090"},
    PublishedName{"GeForce RTX 4090", "rtx_4090"},
    PublishedName{"RTX 4090", "rtx_4090"},
    PublishedName{"GeForce RTX 5090", "rtx_5090"},
    PublishedName{"RTX 5090", "rtx_5090"},
    PublishedName{"RTX PRO 6000", "rtx_pro_6000"},
    PublishedName{"RTX PRO 6000 Blackwell Server Edition", "rtx_pro_6000"},
    PublishedName{"RTX PRO 6000 Blackwell Workstation Edition", "rtx_pro_6000"},
    PublishedName{"L40S", "l40s"},
    PublishedName{"V100", "v100_16gb"},
    PublishedName{"V100-SXM2-16GB", "v100_16gb"},
    PublishedName{"V100-SXM2-32GB", "v100_32gb"},
    // As torch.profiler's traces have them. A100-PG509-200: 42.3 GB of memory and 108 SMs (facebookresearch/HolisticTraceAnalysis
    // @f4d0062, tests/data/nccl_parser_config).
    PublishedName{"Tesla V100-SXM2-16GB", "v100_16gb"},
    PublishedName{"Tesla V100-SXM2-32GB", "v100_32gb"},
    PublishedName{"A100-PG509-200", "a100_sxm_40gb"},
};

const PublishedName* find_name(std::string_view published) {
  const auto* const found = std::ranges::find(kNames, published, &PublishedName::name);
  return found == kNames.end() ? nullptr : found;
}

bool is_file_name(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](unsigned char c) { return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_'; });
}

}  // namespace

std::optional<std::string> gpu_file_of(std::string_view published) {
  constexpr std::string_view kMaker = "NVIDIA ";
  if (published.starts_with(kMaker)) published.remove_prefix(kMaker.size());
  if (is_file_name(published)) return std::string(published);
  const PublishedName* found = find_name(published);
  const size_t bracket = published.find(" (");
  if (found == nullptr && bracket != std::string_view::npos) found = find_name(published.substr(0, bracket));
  if (found == nullptr) return std::nullopt;
  return std::string(found->file);
}

}  // namespace warpfold::validation
