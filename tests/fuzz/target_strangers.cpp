// What other processes send: frames of a worker, rows and errors of a server, texts for a terminal.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "cli/fleet/job_text.hpp"
#include "cli/text_layout.hpp"
#include "core/errors.hpp"
#include "core/shown_text.hpp"
#include "db/server/postgres_text.hpp"
#include "tests/fuzz/targets.hpp"
#include "tuner/workers/messages.hpp"

namespace kiln::fuzz {
namespace {

template <typename... Messages>
void decode_all(const Frame& frame) {
  const auto decode_one = [&]<typename Message>(Message*) {
    try {
      static_cast<void>(decode<Message>(frame));
    } catch (const InputError&) {  // the worker is treated as dead
    }
  };
  (decode_one(static_cast<Messages*>(nullptr)), ...);
}

std::string wire_of(const std::string& header) {
  const std::vector<std::byte> bytes = to_wire({header, std::vector<std::byte>(8)});
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

// The bytes of a worker's socket, in two pieces.
void run_messages(std::string_view input) {
  FrameReader reader;
  const std::size_t half = input.size() / 2;
  for (const std::string_view piece : {input.substr(0, half), input.substr(half)}) {
    reader.feed(std::as_bytes(std::span(piece.data(), piece.size())));
    while (const std::optional<Frame> frame = reader.next()) {
      static_cast<void>(type_of(*frame));
      decode_all<Unavailable, DeviceList, CompileJob, CompileReport>(*frame);
    }
  }
}

// The settings of a job, and what a server says: the first line is the SQLSTATE.
void run_server(std::string_view input) {
  const std::string text = storable_text(input);
  const std::size_t line = std::min(text.find('\n'), text.size());
  static_cast<void>(explain_server(text.substr(0, line), text.substr(line)));
  static_cast<void>(explain_connect(one_line(text)));
  static_cast<void>(bytes_from_hex(text));
  cli::SearchOptions options;
  cli::read_settings(text, options);
}

// Nothing of a stranger's text steers a terminal, and no line is too long.
void run_terminal(std::string_view input) {
  const std::string shown = shown_text(input);
  if (shown_text(shown) != shown) throw std::logic_error("a text that is shown is shown otherwise");
  for (std::size_t at = 0; at < shown.size(); ++at) {
    const auto c = static_cast<unsigned char>(shown[at]);
    const std::size_t own = own_style_bytes(std::string_view(shown).substr(at));
    if (own > 0) {
      at += own - 1;
    } else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
      throw std::logic_error("a control character is sent");
    }
  }
  static_cast<void>(hidden_passwords(input));
  constexpr std::size_t kWidth = 40;
  for (const std::string& each : cli::wrapped(shown, kWidth)) {
    if (cli::columns_of(each) > kWidth) throw std::logic_error("a line is too long: " + each);
  }
  static_cast<void>(cli::paragraphs(shown, kWidth));
}

std::vector<std::string> messages_seeds() {
  return {wire_of(R"({"type":"unavailable","reason":"no driver","code":4})"),
          wire_of(R"({"type":"devices","devices":[{"backend":"cuda","ordinal":0,"name":"x"}]})"),
          wire_of(R"({"type":"compiled","failure":null,"binary":{},"compile_ns":1,"blob":[8]})"),
          wire_of(nested(R"({"type":"devices","devices":@})", "["))};
}

std::vector<std::string> server_seeds() {
  return {"57P01\nterminating connection", "\\x0aff", R"({"strategy":"auto","seed":1,"trials":5})",
          nested("@", "["), "53100\nERROR:  could not extend file: No space left on device\n"};
}

std::vector<std::string> terminal_seeds() {
  return {
      "\x1b[31mred\x1b[0m\r\n", "\xc2\x9b 31m",     "postgresql://ada:secret@host/db?password=x",
      "\xe2\x80\xae turned",    "\x1b]0;title\x07", "a b c " + nested("@", "word ")};
}

}  // namespace kiln::fuzz
