#include "configs/operator_kernels.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "configs/escape/quoted.h"
#include "configs/escape/visible.h"
#include "configs/near_miss.h"
#include "configs/places.h"
#include "configs/read_file.h"
#include "configs/text.h"

namespace warpfold::configs {

namespace {

std::optional<Finding> find_place_fault(uint32_t operator_at, const OperatorKernel& kernel, const std::string& path) {
  const auto operators = static_cast<uint32_t>(kernel.operator__size());
  if (operator_at < operators) return std::nullopt;
  return Finding{path + ".operator_at", "operator_at must be below " + std::to_string(operators) +
                                            ", the number of operators, not " + std::to_string(operator_at)};
}

using Sizes = google::protobuf::RepeatedPtrField<OperatorKernel::Size>;

std::optional<Finding> find_size_fault(const Sizes& sizes, const OperatorKernel& kernel, const std::string& path) {
  for (int s = 0; s < sizes.size(); ++s) {
    const std::string size = path + ".size[" + std::to_string(s) + "]";
    const OperatorKernel::Size& each = sizes.Get(s);
    if (!each.has_path()) return Finding{size, "a size has no path"};
    if (each.has_divide() && each.divide() == 0) return Finding{size + ".divide", "divide must be at least 1, not 0"};
    if (each.has_multiple_of() && each.multiple_of() == 0)
      return Finding{size + ".multiple_of", "multiple_of must be at least 1, not 0"};
    if (auto fault = find_place_fault(each.operator_at(), kernel, size)) return fault;
  }
  return std::nullopt;
}

std::optional<Finding> find_range_fault(const OperatorKernel& kernel, const std::string& path) {
  for (int r = 0; r < kernel.only_size(); ++r) {
    const std::string only = path + ".only[" + std::to_string(r) + "]";
    const OperatorKernel::Range& each = kernel.only(r);
    if (!each.has_least() && !each.has_most()) return Finding{only, "a range has neither least nor most"};
    if (each.has_most() && each.most() < each.least())
      return Finding{only + ".most",
                     "most must be at least " + std::to_string(each.least()) + ", not " + std::to_string(each.most())};
    if (auto fault = find_place_fault(each.operator_at(), kernel, only)) return fault;
  }
  return std::nullopt;
}

std::optional<Finding> find_name_fault(const OperatorKernel& kernel, const std::string& path,
                                       const std::vector<std::string>& known) {
  for (int o = 0; o < kernel.operator__size(); ++o) {
    const std::string& name = kernel.operator_(o);
    if (known.empty() || std::ranges::find(known, name) != known.end()) continue;
    return Finding{path + ".operator[" + std::to_string(o) + "]",
                   "no operator called " + escape::quoted(name) + suggestion(name, known)};
  }
  return std::nullopt;
}

std::optional<Finding> find_fault(const OperatorKernels& table, const std::vector<std::string>& known) {
  for (int k = 0; k < table.kernel_size(); ++k) {
    const std::string path = "kernel[" + std::to_string(k) + "]";
    const OperatorKernel& kernel = table.kernel(k);
    if (kernel.operator__size() == 0) return Finding{path, "a kernel of the table does no operator"};
    if (!kernel.has_launch()) return Finding{path, "a kernel of the table needs a launch"};
    if (auto fault = find_name_fault(kernel, path, known)) return fault;
    if (auto fault = find_range_fault(kernel, path)) return fault;
    if (auto fault = find_size_fault(kernel.size(), kernel, path)) return fault;
    for (int l = 0; l < kernel.then_size(); ++l) {
      const std::string then = path + ".then[" + std::to_string(l) + "]";
      if (kernel.candidate()) return Finding{then, "a candidate is one launch"};
      if (!kernel.then(l).has_launch()) return Finding{then, "a kernel of the table needs a launch"};
      if (auto fault = find_size_fault(kernel.then(l).size(), kernel, then)) return fault;
    }
  }
  return std::nullopt;
}

constexpr int kMostTables = 16;

Expected<OperatorKernels> load_table(const std::string& path, const std::vector<std::string>& known, int tables_above) {
  namespace fs = std::filesystem;
  const auto text = read_file(path);
  if (!text) return std::unexpected(text.error());
  OperatorKernels table;
  Places places;
  auto locations = std::make_unique<google::protobuf::TextFormat::ParseInfoTree>();
  if (auto parsed = parse_located_text(path, *text, table, *locations); !parsed) return std::unexpected(parsed.error());
  places.add_file(path, "", *OperatorKernels::descriptor(), std::move(locations));
  if (const auto fault = find_fault(table, known)) return places.fail(*fault);
  const fs::path folder = fs::path(path).parent_path();
  const auto place = [&](auto& launch) {
    if (launch.has_listing()) launch.set_listing((folder / launch.listing()).lexically_normal().string());
    launch.set_launch((folder / launch.launch()).lexically_normal().string());
  };
  for (OperatorKernel& kernel : *table.mutable_kernel()) {
    place(kernel);
    for (OperatorKernel::Launch& each : *kernel.mutable_then()) place(each);
  }
  if (!table.has_base()) return table;
  if (tables_above >= kMostTables)
    return places.fail({"base", "more than " + std::to_string(kMostTables) + " tables follow each other"});
  const auto base = load_table((folder / table.base()).lexically_normal().string(), known, tables_above + 1);
  if (!base && base.error().file.empty()) return places.fail({"base", base.error().message});
  if (!base) return std::unexpected(base.error());
  table.mutable_kernel()->MergeFrom(base->kernel());
  table.clear_base();
  return table;
}

}  // namespace

Expected<OperatorKernels> load_operator_kernels(const std::string& path, const std::vector<std::string>& known) {
  return load_table(path, known, 0);
}

}  // namespace warpfold::configs
