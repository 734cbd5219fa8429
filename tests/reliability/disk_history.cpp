// What is left of a LossyDisk's operations after a loss of power.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/reliability/lossy_disk.hpp"

namespace kiln::test {
namespace {

constexpr std::size_t kSectorBytes = 512;

void put(std::string& content, std::size_t offset, const char* bytes, std::size_t count) {
  if (content.size() < offset + count) content.resize(offset + count, '\0');
  std::copy_n(bytes, count, content.begin() + static_cast<std::ptrdiff_t>(offset));
}

}  // namespace

void DiskHistory::apply(const Operation& operation) {
  File& file = files_[operation.file];
  switch (operation.kind) {
    case Operation::Kind::create:
    case Operation::Kind::remove:
      unsynced_names_.push_back(operation);
      break;
    case Operation::Kind::write:
    case Operation::Kind::truncate:
      file.unsynced.push_back(operation);
      break;
    case Operation::Kind::sync:
      for (const Operation& change : file.unsynced) apply_whole(file.durable, change);
      file.unsynced.clear();
      break;
  }
  if (operation.syncs_folder) {
    for (const Operation& change : unsynced_names_) {
      if (change.kind == Operation::Kind::create) {
        names_[change.name] = change.file;
      } else {
        names_.erase(change.name);
      }
    }
    unsynced_names_.clear();
  }
}

std::map<std::string, std::string> DiskHistory::after(Loss loss, std::uint64_t seed) const {
  Random random(seed);
  std::map<std::string, int> names = names_;
  std::size_t kept_names = loss == Loss::unsynced ? 0 : unsynced_names_.size();
  if (loss == Loss::torn) kept_names = random() % (unsynced_names_.size() + 1);
  for (std::size_t i = 0; i < kept_names; ++i) {
    if (unsynced_names_[i].kind == Operation::Kind::create) {
      names[unsynced_names_[i].name] = unsynced_names_[i].file;
    } else {
      names.erase(unsynced_names_[i].name);
    }
  }
  std::map<std::string, std::string> found;
  for (const auto& [name, number] : names) {
    const auto file = files_.find(number);
    std::string& content = found[name];
    if (file == files_.end()) continue;
    content = file->second.durable;
    for (const Operation& change : file->second.unsynced) {
      if (loss == Loss::nothing) {
        apply_whole(content, change);
      } else if (loss == Loss::torn) {
        apply_torn(content, change, random);
      }
    }
  }
  return found;
}

void DiskHistory::apply_whole(std::string& content, const Operation& operation) {
  const auto offset = static_cast<std::size_t>(operation.offset);
  if (operation.kind == Operation::Kind::truncate) {
    content.resize(offset, '\0');
  } else {
    put(content, offset, operation.bytes.data(), operation.bytes.size());
  }
}

void DiskHistory::apply_torn(std::string& content, const Operation& operation, Random& random) {
  if (operation.kind == Operation::Kind::truncate) {
    if (random() % 2 == 0) apply_whole(content, operation);
    return;
  }
  auto at = static_cast<std::size_t>(operation.offset);
  const std::size_t end = at + operation.bytes.size();
  const char* bytes = operation.bytes.data();
  while (at < end) {
    const std::size_t count = std::min(end, (at / kSectorBytes + 1) * kSectorBytes) - at;
    if (random() % 2 == 0) put(content, at, bytes, count);
    at += count;
    bytes += count;
  }
}

}  // namespace kiln::test
