// encode() and decode() of messages: JSON headers and blobs. A blob holds the bytes of all
// binaries, one after the other; the header's "blob" lists how many each has.
//
// For the sources that instantiate them: messages.cpp, and those with a message of their own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/field_json.hpp"
#include "core/json.hpp"
#include "core/json_text.hpp"
#include "tuner/workers/messages.hpp"

namespace kiln {
namespace detail {

/// Calls `take(binary)` for each binary of the message, in the order of its fields.
template <typename Message, typename Take>
void for_each_binary(Message& message, const Take& take) {
  visit_fields(message, [&](const char* /*name*/, auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::same_as<Field, Binary>) {
      take(field);
    } else if constexpr (std::same_as<Field, std::vector<Binary>>) {
      for (auto& binary : field) take(binary);
    }
  });
}

/// Fills the binaries of the message, whose other fields are read.
template <typename Message>
void read_blob(const Frame& frame, const Json& lengths, Message& message) {
  auto next = frame.blob.begin();
  std::size_t index = 0;
  for_each_binary(message, [&](Binary& binary) {
    const std::ptrdiff_t length = lengths.at(index++);
    if (length < 0 || length > frame.blob.end() - next)
      throw InputError("malformed message between processes: blob too short");
    binary.data.assign(next, next + length);
    next += length;
  });
}

}  // namespace detail

template <typename Message>
Frame encode(const Message& message) {
  Json header = field_json(message);
  header["type"] = Message::kType;
  Frame frame;
  detail::for_each_binary(message, [&](const Binary& binary) {
    header["blob"].push_back(binary.data.size());
    frame.blob.insert(frame.blob.end(), binary.data.begin(), binary.data.end());
  });
  // A compiler log or a path may hold bytes that are no UTF-8: they are replaced, never thrown
  // over.
  frame.header = json_text(header);
  return frame;
}

template <typename Message>
Message decode(const Frame& frame) {
  try {
    const Json header = Json::parse(frame.header);
    Message message;
    read_field(header, message);
    detail::read_blob(frame, header.value("blob", Json::array()), message);
    return message;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(std::string("malformed message between processes: ") + error.what());
  }
}

}  // namespace kiln
