#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/validation/kernels_of_row.h"

// Kernels written as text for rows of micro-kernels. Each returns the row's work, or says why the row is not mapped.
namespace warpfold::validation {

inline std::string number(uint64_t value) { return std::to_string(value); }

// Text of a loop around `body`.
inline std::string loop(uint64_t times, const std::string& body) { return "loop " + number(times) + "\n" + body + "end\n"; }

// Returns an option of the row as a whole number from 1 to 1048576.
Mapped<uint64_t> option_of(const MeasuredRow& row, std::string_view name);
// The work of one kernel in the text form, at this clock.
RowWork micro_work(std::string family, const MeasuredRow& row, std::string text, double clock_mhz);

Mapped<RowWork> small_passes_of_row(const MeasuredRow& row, const configs::Gpu& gpu);
Mapped<RowWork> reads_by_each_sm_of_row(const MeasuredRow& row, const configs::Gpu& gpu);
Mapped<RowWork> reads_by_all_sms_of_row(const MeasuredRow& row, const configs::Gpu& gpu);
Mapped<RowWork> reads_and_products_of_row(const MeasuredRow& row, const configs::Gpu& gpu);
Mapped<RowWork> l1_loads_of_row(const MeasuredRow& row, const configs::Gpu& gpu);
Mapped<RowWork> reads_of_some_sms_of_row(const MeasuredRow& row, const configs::Gpu& gpu);

}  // namespace warpfold::validation
