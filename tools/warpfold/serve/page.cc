#include "tools/warpfold/serve/page.h"

#include <span>
#include <stdexcept>
#include <string_view>

#include "configs/embedded_file.h"
#include "configs/escape/html.h"
#include "configs/escape/json.h"
#include "configs/resources.h"
#include "tools/report/page.h"

namespace warpfold {

std::span<const EmbeddedFile> serve_page_files();
std::span<const EmbeddedFile> serve_form_schema();

namespace serve {

namespace {

std::string list_json(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list.append(list.empty() ? "" : ", ").append(escape::json(text));
  return "[" + list + "]";
}

std::string resources_json() {
  std::string list;
  for (const configs::ScalableResource& resource : configs::scalable_resources()) {
    list.append(list.empty() ? "" : ", ");
    list += "{\"name\": " + escape::json(resource.name) + ", \"path\": " + escape::json(resource.path) +
            ", \"what\": " + escape::json(resource.what) +
            ", \"kind\": " + escape::json(configs::resource_kind_name(resource.kind)) +
            ", \"whole\": " + (resource.whole ? "true" : "false") + "}";
  }
  return "[" + list + "]";
}

std::string data_json(const Names& names, const std::string& scenario) {
  return "{\"version\": " + escape::json(WARPFOLD_VERSION) + ", \"scenario\": " + escape::json(scenario) +
         ", \"scenarios\": " + list_json(names.scenarios) + ", \"gpus\": " + list_json(names.gpus) +
         ", \"models\": " + list_json(names.models) + ", \"resources\": " + resources_json() +
         ", \"schema\": " + std::string(serve_form_schema().front().content) + "}";
}

// Returns the text that replaces <!-- insert NAME --> in the template. Colours, formats and elements come from the report's page.
std::string insertion(std::string_view name, const Names& names, const std::string& scenario, const std::string& nonce) {
  if (name == "nonce") return nonce;
  if (name == "data") return escape::script_json(data_json(names, scenario));
  std::string text;
  if (name == "style") text = report::page_file("style.css");
  if (name == "script") {
    for (const std::string_view file : {"values.js", "palette.js", "elements.js"})
      text.append(report::page_file(file)).append("\n");
  }
  if (text.empty()) throw std::logic_error("the page asks for " + std::string(name));
  for (const EmbeddedFile& file : serve_page_files()) {
    if (file.name.ends_with(name == "style" ? ".css" : ".js")) text.append(file.content).append("\n");
  }
  return text;
}

}  // namespace

std::string page(const Names& names, const std::string& scenario, const std::string& nonce) {
  return report::filled(serve_page_files().front().content,
                        [&](std::string_view name) { return insertion(name, names, scenario, nonce); });
}

std::string content_policy(const std::string& nonce) {
  return "default-src 'none'; script-src 'nonce-" + nonce +
         "'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
         "frame-ancestors 'none'";
}

}  // namespace serve

}  // namespace warpfold
