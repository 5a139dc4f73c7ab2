#pragma once

#include <algorithm>
#include <ranges>
#include <string>
#include <vector>

#include "support.h"

namespace warpfold::sass {

constexpr uint64_t kRows = 512, kColumns = 2048, kElements = kRows * kColumns, kCtas = 64;

inline Expected<Imported> imported(const std::string& name, std::vector<std::string> settings) {
  const std::string folder = "configs/kernels/operators/";
  const auto launch = configs::load_kernel_launch(data_file(folder + name + ".textproto"), {});
  if (!launch) return std::unexpected(launch.error());
  const auto has = [&](const std::string& parameter) {
    return std::ranges::any_of(launch->parameter(), [&](const auto& each) { return each.has_value() && each.name() == parameter; });
  };
  if (has("ctas")) settings.push_back("parameter.ctas.value=" + std::to_string(kCtas));
  if (has("images")) settings.push_back("parameter.images.value=1");
  return import_files(folder + launch->listing(), folder + name + ".textproto", settings);
}

inline Expected<Imported> imported_rows(const std::string& name, uint64_t rows) {
  const auto launch = configs::load_kernel_launch(data_file("configs/kernels/operators/" + name + ".textproto"), {});
  const bool flat = std::ranges::any_of(launch->parameter(), [](const auto& each) { return each.name() == "elements"; });
  if (flat) return imported(name, {"parameter.elements.value=" + std::to_string(rows * kColumns)});
  return imported(name, {"parameter.rows.value=" + std::to_string(rows), "parameter.columns.value=" + std::to_string(kColumns)});
}

inline const ArrayReport& array_of(const Imported& imported, const std::string& name) {
  return *std::ranges::find(imported.report.arrays, name, &ArrayReport::name);
}

}  // namespace warpfold::sass
