#pragma once

#include <array>
#include <cstdio>
#include <ostream>
#include <string>
#include <string_view>

// Writes measurements as CSV, in columns that `warpfold validate` reads (docs/validate.md). Host code, without CUDA.
namespace silicon {

// One measurement. Texts that do not apply are empty. 0 means unknown for clock, power and temperature.
struct Measurement {
  std::string id;
  std::string category;  // PIPE, LATENCY, MEM, WGMMA, RNG, GEMM, CORUN
  std::string kernel;
  std::string impl;
  std::string dtype;
  std::string m, n, k;     // GEMM
  std::string dims_other;  // NAME=VALUE;NAME=VALUE
  std::string metric;
  double value = 0;
  std::string unit;
  std::string set;  // settings of the kernel that a simulation should run: FIELD=VALUE FIELD=VALUE
  double clock_mhz = 0;
  double power_w = 0;
  double temperature_c = 0;
  std::string notes;
};

class CsvWriter {
 public:
  // `source`: the origin of the figures: the kit's version and the date.
  CsvWriter(std::ostream& out, std::string gpu, std::string source) : out_(out), gpu_(std::move(gpu)), source_(std::move(source)) {
    out_ << "id,category,gpu,kernel,impl,dtype,M,N,K,dims_other,metric,value,unit,set,clock_mhz,power_w,temperature_c,source,"
            "notes\n";
  }

  void write(const Measurement& is) {
    const std::array cells{is.id,
                           is.category,
                           gpu_,
                           is.kernel,
                           is.impl,
                           is.dtype,
                           is.m,
                           is.n,
                           is.k,
                           is.dims_other,
                           is.metric,
                           number(is.value),
                           is.unit,
                           is.set,
                           reading(is.clock_mhz),
                           reading(is.power_w),
                           reading(is.temperature_c),
                           source_,
                           is.notes};
    for (std::size_t c = 0; c < cells.size(); ++c) out_ << (c == 0 ? "" : ",") << field(cells[c]);
    out_ << "\n" << std::flush;  // an interrupted run keeps its measurements
  }

  // Quotes a field if necessary: "a, b" -> "\"a, b\"".
  static std::string field(std::string_view text) {
    if (text.find_first_of(",\"\r\n#") == std::string_view::npos) return std::string(text);
    std::string quoted(1, '"');
    for (const char letter : text) quoted.append(letter == '"' ? 2 : 1, letter);
    return quoted.append(1, '"');
  }

  // Formats six significant digits without an exponent, which some readers do not accept.
  static std::string number(double value) {
    int decimals = 5;
    for (double size = value < 0 ? -value : value; size >= 10 && decimals > 0; size /= 10) --decimals;
    if (value != 0 && value > -0.1 && value < 0.1) decimals = 9;
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
    return text.data();
  }

 private:
  static std::string reading(double value) { return value > 0 ? number(value) : std::string(); }

  std::ostream& out_;
  std::string gpu_;
  std::string source_;
};

}  // namespace silicon
