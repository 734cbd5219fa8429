// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

#include <zlib.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "core/version.hpp"
#include "report/parts.hpp"

namespace kiln {
namespace {

const EmbeddedFile* find_part(std::string_view path) {
  const auto parts = report_parts();
  const auto found = std::find_if(parts.begin(), parts.end(),
                                  [&](const EmbeddedFile& each) { return each.path == path; });
  return found == parts.end() ? nullptr : &*found;
}

const EmbeddedFile& part(std::string_view path) {
  const EmbeddedFile* found = find_part(path);
  if (found == nullptr) throw std::logic_error("no part of reports: " + std::string(path));
  return *found;
}

std::string base64(const unsigned char* bytes, std::size_t size) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((size + 2) / 3 * 4);
  for (std::size_t i = 0; i < size; i += 3) {
    unsigned group = static_cast<unsigned>(bytes[i]) << 16;
    if (i + 1 < size) group |= static_cast<unsigned>(bytes[i + 1]) << 8;
    if (i + 2 < size) group |= bytes[i + 2];
    text += kDigits[group >> 18 & 63];
    text += kDigits[group >> 12 & 63];
    text += i + 1 < size ? kDigits[group >> 6 & 63] : '=';
    text += i + 2 < size ? kDigits[group & 63] : '=';
  }
  return text;
}

std::string packed_element(std::string_view id, const unsigned char* bytes, std::size_t size) {
  // No browser runs a script of this type.
  return "<script type=\"application/octet-stream\" id=\"" + std::string(id) + "\">" +
         base64(bytes, size) + "</script>\n";
}

std::string packed_element(std::string_view id, const EmbeddedFile& file) {
  return packed_element(id, file.deflated, file.deflated_bytes);
}

std::string packed_element(std::string_view id, const std::string& text) {
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::string bytes(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(bytes.data()), &size,
                reinterpret_cast<const Bytef*>(text.data()), static_cast<uLong>(text.size()),
                Z_BEST_COMPRESSION) != Z_OK) {
    throw std::logic_error("zlib cannot compress");
  }
  return packed_element(id, reinterpret_cast<const unsigned char*>(bytes.data()), size);
}

std::string payload_of(const ReportPage& page) {
  return packed_element("kiln-data", page.data) + packed_element("kiln-views", part("views.json")) +
         packed_element("kiln-vega", part("vega.js")) +
         packed_element("kiln-vega-lite", part("vega-lite.js")) +
         packed_element("kiln-vega-embed", part("vega-embed.js"));
}

std::string licences() {
  std::string text;
  for (const std::string name : {"vega", "vega-lite", "vega-embed"})
    text += name + "\n\n" + part(name + ".licence").text() + "\n";
  return text;
}

/// Replaces each <!--name--> of the page that `words` has; what was put in is not read again.
std::string filled(const std::string& text, const std::map<std::string, std::string>& words) {
  constexpr std::string_view kBegin = "<!--";
  constexpr std::string_view kEnd = "-->";
  std::string out;
  std::size_t place = 0;
  while (true) {
    const std::size_t begin = text.find(kBegin, place);
    const std::size_t end = begin == text.npos ? begin : text.find(kEnd, begin);
    if (end == text.npos) return out.append(text, place, text.npos);
    out.append(text, place, begin - place);
    const std::string name = text.substr(begin + kBegin.size(), end - begin - kBegin.size());
    out += words.at(name);
    place = end + kEnd.size();
  }
}

}  // namespace

bool can_draw_reports() { return find_part("vega.js") != nullptr; }

std::string report_page(const ReportPage& page) {
  return filled(part("page.html").text(), {{"title", html_text(page.title)},
                                           {"generator", "kiln " + std::string(kVersion)},
                                           {"style", part("page.css").text()},
                                           {"answer", page.answer},
                                           {"details", page.details},
                                           {"licences", html_text(licences())},
                                           {"payload", payload_of(page)},
                                           {"glue", part("page.js").text()}});
}

std::string html_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace kiln
