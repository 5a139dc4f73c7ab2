#pragma once

#include <string>
#include <string_view>

namespace warpfold::report {

// One self-contained HTML page: the template of page/page.html with its style, its script, the chart library and the data in
// it. It asks the network for nothing. `json` is a configs.Report with the schema's field names; whatever its texts hold stays
// data: no text can end the block that it stands in.
std::string html_page(std::string_view title, std::string_view json);

// A file of page/ as it was when the program was built.
std::string_view page_file(std::string_view name);

}  // namespace warpfold::report
