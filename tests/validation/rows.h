#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/source_dir.h"
#include "tools/validation/map_row.h"

namespace warpfold::validation {

// Rows of a CSV file, read and mapped to scenarios.
class Rows : public testing::Test {
 protected:
  Rows() : file_(std::filesystem::path(testing::TempDir()) / "warpfold_rows.csv") {}
  ~Rows() override { std::filesystem::remove(file_); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  Expected<std::vector<MeasuredRow>> read(const std::string& text) const {
    std::ofstream(file_) << text;
    return read_measured_rows(file_.string());
  }
  // Returns the error message without the file's name.
  std::string mistake(const std::string& text) const {
    const auto rows = read(text);
    if (!rows) return rows.error().text().substr(file_.string().size());
    const auto mapped = mapper_.map(rows->front());
    if (mapped) return "mapped";
    return mapped.error().mistake ? mapped.error().mistake->text().substr(file_.string().size())
                                  : "reason: " + mapped.error().reason;
  }
  Comparison map(const std::string& header, const std::string& cells) const {
    const auto rows = read(header + "\n" + cells + "\n");
    if (!rows) throw std::logic_error(rows.error().text());
    auto mapped = mapper_.map(rows->front());
    if (!mapped) throw std::logic_error(mapped.error().mistake ? mapped.error().mistake->text() : mapped.error().reason);
    return *mapped;
  }

  const std::string kGemm = "id,category,gpu,dtype,M,N,K,value,unit,set";
  const std::string kAttention = "id,category,gpu,kernel,impl,dtype,batch,heads,seqlen,head_dim,causal,value,unit";

 private:
  std::filesystem::path file_;
  mutable RowMapper mapper_{WARPFOLD_SOURCE_DIR "/configs/gpus", {}};
};

}  // namespace warpfold::validation
