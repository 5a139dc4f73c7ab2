#include "configs/gemm_library.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <stdexcept>

#include "configs/architecture.h"
#include "configs/embedded_file.h"
#include "configs/load.h"
#include "configs/near_miss.h"

namespace warpfold {

std::span<const EmbeddedFile> gemm_library_files();  // generated from configs/libraries

namespace configs {
namespace {

std::vector<GemmLibrary> read_tables() {
  std::vector<GemmLibrary> libraries;
  for (const EmbeddedFile& file : gemm_library_files()) {
    GemmLibraries table;
    if (auto parsed = parse_text(std::string(file.name), file.content, table); !parsed)
      throw std::logic_error(parsed.error().text());
    for (GemmLibrary& library : *table.mutable_library()) libraries.push_back(std::move(library));
  }
  return libraries;
}

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

}  // namespace

const std::vector<GemmLibrary>& gemm_libraries() {
  static const std::vector<GemmLibrary> tables = read_tables();
  return tables;
}

const GemmLibrary* find_gemm_library(std::string_view name) {
  const auto found = std::ranges::find_if(
      gemm_libraries(), [&](const GemmLibrary& library) { return std::ranges::equal(library.name(), name, same_letter); });
  return found == gemm_libraries().end() ? nullptr : &*found;
}

std::string gemm_library_suggestion(std::string_view wrong) {
  std::vector<std::string> names;
  for (const GemmLibrary& library : gemm_libraries()) names.push_back(library.name());
  return suggestion(wrong, names);
}

namespace {

bool has_kernels_for(const GemmOffer& offer, std::string_view architecture) {
  const ProductFamily family = product_family(architecture);
  if (family == ProductFamily::kTcgen05) return offer.has_blackwell();
  return family == ProductFamily::kWgmma ? !offer.has_blackwell() && !offer.has_ampere() : offer.has_ampere();
}

}  // namespace

const GemmLibrary* gemm_library_of(std::string_view implementation, std::string_view architecture) {
  const GemmLibrary* best = nullptr;
  size_t longest = 0;
  for (const GemmLibrary& library : gemm_libraries()) {
    if (std::ranges::none_of(library.offer(), [&](const GemmOffer& offer) { return has_kernels_for(offer, architecture); }))
      continue;
    for (const std::string& word : library.implementation()) {
      if (word.size() <= longest || std::ranges::search(implementation, word, same_letter).empty()) continue;
      longest = word.size();
      best = &library;
    }
  }
  return best;
}

}  // namespace configs
}  // namespace warpfold
