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

// Names as printed by data sheets, drivers and papers, without the maker, "Tesla", or a number of GPUs in front ("8x"). A power
// limit or a provider in brackets after a name may be omitted. Parts that differ only in their memory have separate names.
//
// assumed: a bare "H100" is the SXM part, a bare "V100" the part with 16 GB, and a bare "A100 PCIe" the part with 80 GB, since most
// published figures come from these.
constexpr std::array kNames{
    PublishedName{"A100", "a100_sxm"},
    PublishedName{"A100 80GB", "a100_sxm"},
    PublishedName{"A100-80GB", "a100_sxm"},
    PublishedName{"A100-80GB SXM", "a100_sxm"},
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
    PublishedName{"H100 80GB", "h100_sxm"},
    PublishedName{"H100 96GB HBM2e 500W", "h100_96gb"},
    PublishedName{"H100 96GB HBM2e 2.4TB/s, 500W cap", "h100_96gb"},
    PublishedName{"H100 96GB", "h100_96gb"},
    PublishedName{"H100 SXM5 96GB", "h100_96gb"},
    PublishedName{"H100 NVL", "h100_nvl"},
    PublishedName{"H100 NVL 94GB", "h100_nvl"},
    PublishedName{"H200 NVL", "h200_nvl"},
    PublishedName{"H200 NVL 141GB", "h200_nvl"},
    PublishedName{"H100 PCIe", "h100_pcie"},
    PublishedName{"H100 PCIe 80GB", "h100_pcie"},
    PublishedName{"H200", "h200_sxm"},
    PublishedName{"H200 (sm90)", "h200_sxm"},
    PublishedName{"H200 SXM", "h200_sxm"},
    PublishedName{"H200 SXM5 141GB", "h200_sxm"},
    PublishedName{"A100 PCIe", "a100_pcie"},
    PublishedName{"A100 PCIe 80GB", "a100_pcie"},
    PublishedName{"A100 80GB PCIe", "a100_pcie"},
    PublishedName{"A100 PCIe 40GB", "a100_pcie_40gb"},
    PublishedName{"A100-PCIE-40GB", "a100_pcie_40gb"},
    PublishedName{"A100-PCIe HBM2", "a100_pcie_40gb"},
    PublishedName{"A800", "a800_sxm"},
    PublishedName{"A800 SXM4 80GB", "a800_sxm"},
    PublishedName{"A800-SXM4-80GB", "a800_sxm"},
    PublishedName{"A10", "a10"},
    PublishedName{"A30", "a30"},
    PublishedName{"A40", "a40"},
    PublishedName{"H800", "h800_sxm"},
    PublishedName{"H800 SXM", "h800_sxm"},
    PublishedName{"H800 SXM5", "h800_sxm"},
    PublishedName{"H800 SXM5 80GB", "h800_sxm"},
    PublishedName{"RTX A6000", "rtx_a6000"},
    PublishedName{"84-SM sm_86 GPU (RTX A6000 by the file names)", "rtx_a6000"},
    PublishedName{"A100 40GB", "a100_sxm_40gb"},
    PublishedName{"A100-SXM4-40GB", "a100_sxm_40gb"},
    PublishedName{"A100 SXM4 40GB", "a100_sxm_40gb"},
    PublishedName{"A100 40GB SXM", "a100_sxm_40gb"},
    PublishedName{"H20", "h20"},
    PublishedName{"H20 SXM5 96GB", "h20"},
    PublishedName{"GH200", "gh200"},
    PublishedName{"GH200 96GB", "gh200"},
    PublishedName{"GH200 480GB", "gh200"},
    PublishedName{"GH200 144GB", "gh200_144gb"},
    PublishedName{"GH200 144G HBM3e", "gh200_144gb"},
    PublishedName{"GH200 SXM 141GB 900W", "gh200_144gb"},
    PublishedName{"B200", "b200"},
    PublishedName{"B200 SXM", "b200"},
    PublishedName{"B200 180GB", "b200"},
    PublishedName{"GB200", "gb200"},
    PublishedName{"GB200 186GB", "gb200"},
    PublishedName{"B300", "b300"},
    PublishedName{"B300 SXM", "b300"},
    PublishedName{"B300 288GB", "b300"},
    PublishedName{"B300 SXM6 AC", "b300"},
    PublishedName{"GB300", "gb300"},
    PublishedName{"GB300 288GB", "gb300"},
    PublishedName{"GB10", "gb10"},
    PublishedName{"DGX Spark", "gb10"},
    PublishedName{"Thor", "thor"},
    PublishedName{"Jetson AGX Thor", "thor"},
    PublishedName{"GeForce RTX 2080 Ti", "rtx_2080_ti"},
    PublishedName{"RTX 2080 Ti", "rtx_2080_ti"},
    PublishedName{"GeForce RTX 3060 Ti", "rtx_3060_ti"},
    PublishedName{"RTX 3060 Ti", "rtx_3060_ti"},
    PublishedName{"GeForce RTX 3070", "rtx_3070"},
    PublishedName{"RTX 3070", "rtx_3070"},
    PublishedName{"GeForce RTX 3080", "rtx_3080"},
    PublishedName{"RTX 3080", "rtx_3080"},
    PublishedName{"GeForce RTX 3090", "rtx_3090"},
    PublishedName{"RTX 3090", "rtx_3090"},
    PublishedName{"GeForce RTX 4090", "rtx_4090"},
    PublishedName{"RTX 4090", "rtx_4090"},
    PublishedName{"GeForce RTX 4080", "rtx_4080"},
    PublishedName{"RTX 4080", "rtx_4080"},
    PublishedName{"GeForce RTX 5080", "rtx_5080"},
    PublishedName{"RTX 5080", "rtx_5080"},
    PublishedName{"GeForce RTX 5090", "rtx_5090"},
    PublishedName{"RTX 5090", "rtx_5090"},
    PublishedName{"RTX PRO 6000", "rtx_pro_6000"},
    PublishedName{"RTX PRO 6000 Blackwell", "rtx_pro_6000"},
    PublishedName{"RTX PRO 6000 Blackwell Server", "rtx_pro_6000"},
    PublishedName{"RTX PRO 6000 Blackwell Server Edition", "rtx_pro_6000"},
    PublishedName{"RTX PRO 6000 Blackwell Workstation Edition", "rtx_pro_6000"},
    PublishedName{"L4", "l4"},
    PublishedName{"L20", "l20"},
    PublishedName{"L40", "l40"},
    PublishedName{"L40S", "l40s"},
    PublishedName{"T4", "t4"},
    PublishedName{"V100", "v100_16gb"},
    PublishedName{"V100-SXM2-16GB", "v100_16gb"},
    PublishedName{"V100 SXM2 16GB", "v100_16gb"},
    PublishedName{"V100 SXM2 32GB", "v100_32gb"},
    PublishedName{"V100-SXM2-32GB", "v100_32gb"},
    PublishedName{"V100-PCIE-32GB", "v100_pcie_32gb"},
    PublishedName{"V100 PCIe 32GB", "v100_pcie_32gb"},
    PublishedName{"V100S-PCIE-32GB", "v100s"},
    PublishedName{"V100S PCIe 32GB", "v100s"},
    PublishedName{"V100S", "v100s"},
    // As printed in torch.profiler's traces: 42.3 GB of memory and 108 SMs (facebookresearch/HolisticTraceAnalysis @f4d0062,
    // tests/data/nccl_parser_config).
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
  const size_t count = published.find_first_not_of("0123456789");  // "8x A100": figures are per GPU
  if (count != 0 && count != std::string_view::npos && published.substr(count).starts_with("x "))
    published.remove_prefix(count + 2);
  for (const std::string_view maker : {"NVIDIA ", "Tesla "}) {
    if (published.starts_with(maker)) published.remove_prefix(maker.size());
  }
  if (is_file_name(published)) return std::string(published);
  const PublishedName* found = find_name(published);
  const size_t bracket = published.find(" (");
  if (found == nullptr && bracket != std::string_view::npos) found = find_name(published.substr(0, bracket));
  if (found == nullptr) return std::nullopt;
  return std::string(found->file);
}

}  // namespace warpfold::validation
