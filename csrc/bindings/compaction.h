// Compaction for Python: all or nothing, also where memory runs out.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/released.h"

namespace ebb::bindings {

namespace py = pybind11;

// An array that is made before its values are known, and then takes them without any memory.
class SlotsToCome {
 public:
  SlotsToCome() {
    auto owner = std::make_unique<Slots>();
    values_ = owner.get();
    const py::capsule capsule(values_, [](void* p) { delete static_cast<Slots*>(p); });
    (void)owner.release();
    // An address that is not null, or numpy would take memory of its own; nothing is read there.
    const auto* const nowhere = reinterpret_cast<const std::int64_t*>(values_);
    array_ = py::array_t<std::int64_t>({0}, {sizeof(std::int64_t)}, nowhere, capsule);
  }

  py::object filled(std::vector<std::int64_t>&& values) && noexcept {
    *values_ = std::move(values);
    if (!values_->empty()) {
      auto* const fields = py::detail::array_proxy(array_.ptr());
      fields->data = reinterpret_cast<char*>(values_->data());
      fields->dimensions[0] = static_cast<py::ssize_t>(values_->size());
    }
    return std::move(array_);
  }

 private:
  using Slots = std::vector<std::int64_t>;

  Slots* values_;
  py::object array_;
};

// Closes the gaps of a store; returns the new slot of each old one, -1 if gone. Who does not learn
// where the slots went has lost them, so once they move nothing may fail.
template <typename Store>
py::object compacted(Store& store) {
  SlotsToCome moved;
  std::vector<std::int64_t> slots = released([&] { return store.compact(); });
  return std::move(moved).filled(std::move(slots));
}

}  // namespace ebb::bindings
