#include "tools/report/page.h"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "configs/embedded_file.h"
#include "configs/escape/html.h"

namespace warpfold {

std::span<const EmbeddedFile> report_page_files();
std::span<const EmbeddedFile> chart_library_files();
std::span<const EmbeddedFile> chart_library_notice();

namespace report {

namespace {

// The library consists of CommonJS modules; vega_loader.js gives each module the modules that it requires.
std::string library() {
  std::string text(page_file("vega_loader.js"));
  for (const EmbeddedFile& file : chart_library_files()) {
    const std::string_view name = file.name.substr(0, file.name.find(".min.js"));
    text.append("vegaModule(\"").append(name).append("\", function (module, exports, require) {\n");
    text.append(file.content).append("\n});\n");
  }
  return text;
}

// Returns the page's own script, in CMake's order of the files.
std::string script() {
  std::string text;
  for (const EmbeddedFile& file : report_page_files()) {
    if (file.name.ends_with(".js") && file.name != "vega_loader.js") text.append(file.content).append("\n");
  }
  return text;
}

// Removes the white space between the parts of a JSON text.
std::string without_space(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  bool inside = false;   // a quoted text
  bool escaped = false;  // the letter after a backslash
  for (const char letter : json) {
    if (inside || (letter != ' ' && letter != '\n')) text += letter;
    if (letter == '"' && !escaped) inside = !inside;
    escaped = inside && letter == '\\' && !escaped;
  }
  return text;
}

// Returns the replacement for <!-- insert NAME --> in the template.
std::string insertion(std::string_view name, std::string_view title, std::string_view json) {
  if (name == "title") return escape::html(title);
  if (name == "style") return std::string(page_file("style.css")).append(page_file("graph.css"));
  if (name == "library") return library();
  if (name == "script") return script();
  if (name == "data") return escape::script_json(without_space(json));
  if (name == "licence") return escape::html(chart_library_notice().front().content);
  throw std::logic_error("the report's template asks for " + std::string(name));
}

}  // namespace

std::string_view page_file(std::string_view name) {
  for (const EmbeddedFile& file : report_page_files()) {
    if (file.name == name) return file.content;
  }
  throw std::logic_error("the report's page lacks " + std::string(name));
}

std::string filled(std::string_view page, const std::function<std::string(std::string_view name)>& insertion) {
  constexpr std::string_view begin = "<!-- insert ";
  constexpr std::string_view end = " -->";
  std::string text;
  for (size_t at = page.find(begin); at != std::string_view::npos; at = page.find(begin)) {
    text.append(page.substr(0, at));
    page.remove_prefix(at + begin.size());
    const size_t length = page.find(end);
    text.append(insertion(page.substr(0, length)));
    page.remove_prefix(length + end.size());
  }
  return text.append(page);
}

std::string html_page(std::string_view title, std::string_view json) {
  return filled(page_file("page.html"), [&](std::string_view name) { return insertion(name, title, json); });
}

}  // namespace report

}  // namespace warpfold
