#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace warpfold::report {

// Returns one self-contained HTML page: the template of page/page.html with its style, its script, the chart library and the data.
// The page sends no requests to the network. `json` is a configs.Report with the schema's field names. All of its texts stay data:
// no text can end the block that contains it.
std::string html_page(std::string_view title, std::string_view json);

// Returns a file of page/ as embedded in the program.
std::string_view page_file(std::string_view name);

// Returns a page with the text of `insertion` in place of each <!-- insert NAME -->.
std::string filled(std::string_view page, const std::function<std::string(std::string_view name)>& insertion);

}  // namespace warpfold::report
