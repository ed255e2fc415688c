// Numbers for names, from 0 in order of first occurrence: for few names that come often.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/room.h"
#include "core/span.h"

namespace ebb {

class NameNumbers {
 public:
  // Throws std::bad_alloc, then nothing was changed.
  std::int32_t number(Span<const char> name) {
    // Neighbours are mostly of one name.
    if (!names_.empty() && is(last_, name)) return last_;
    const auto next = static_cast<std::int32_t>(names_.size());
    make_room(names_, names_.size() + 1);
    const auto found = numbers_.try_emplace(std::string(name.begin(), name.end()), next).first;
    if (found->second == next) names_.push_back(&found->first);
    return last_ = found->second;
  }

  // By number; good until this goes.
  const std::vector<const std::string*>& names() const { return names_; }

 private:
  bool is(std::int32_t number, Span<const char> name) const {
    const std::string& known = *names_[static_cast<std::size_t>(number)];
    return known.compare(0, known.size(), name.data, name.size) == 0;
  }

  std::unordered_map<std::string, std::int32_t> numbers_;
  std::vector<const std::string*> names_;
  std::int32_t last_ = 0;
};

}  // namespace ebb
