// The HTML file of `kiln report`: one page with everything inside.
//
// Texts come as HTML, numbers as JSON; the page hands the numbers to the views of views.json. Data
// and libraries are compressed (zlib) and in base64, so no text of a stranger can end a script.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kiln {

/// What differs from page to page.
struct ReportPage {
  std::string title;    ///< plain text
  std::string answer;   ///< HTML above the plots
  std::string details;  ///< HTML below the plots
  std::string data;     ///< JSON, as report/page.js reads it
};

/// Does this program hold the libraries that draw?
[[nodiscard]] bool can_draw_reports();

/// Returns the whole file. Throws std::logic_error if the program is damaged or cannot draw.
[[nodiscard]] std::string report_page(const ReportPage& page);

/// `text` as HTML shows it, in an element or in a quoted attribute.
[[nodiscard]] std::string html_text(std::string_view text);

}  // namespace kiln
