#include <pybind11/pybind11.h>

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arguments.h"
#include "bindings/found_products.h"
#include "bindings/numpy_views.h"
#include "bindings/topics.h"
#include "core/reinforcement.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

// The columns of a scope, held as they are.
class HeldStrengths {
 public:
  HeldStrengths(py::object row, py::object strength, py::object anchor, py::object intensity,
                py::object accessed, py::object accesses, const py::object& unit,
                const py::object& rate)
      : unit_(checked_number(unit, "unit")),
        rate_(checked_number(rate, "rate")),
        columns_(columns_of(row, strength, anchor, intensity, accessed, accesses)),
        held_{std::move(row),       std::move(strength), std::move(anchor),
              std::move(intensity), std::move(accessed), std::move(accesses)} {}

  // Some microseconds of work on a few slots: the GIL is kept, which also keeps two calls apart;
  // but not from numpy, which writes to large arrays without it.
  py::bytes succeed(const py::object& slots, const py::object& similarity, const py::object& hits,
                    const py::object& now, const py::object& gain, const py::object& evidence,
                    const py::object& refractory) const {
    const CopiedSlots chosen(slots, "slots");
    return traced({chosen, vector_view<double>(similarity, "similarity", chosen.size()),
                   checked_count(hits, "hits", 0), guard_of(evidence, refractory)},
                  now, gain);
  }

  py::bytes succeed_products(const FoundProducts& found, const py::object& hits,
                             const py::object& now, const py::object& gain,
                             const py::object& evidence, const py::object& refractory) const {
    const ProductRanking& ranking = found.ranking();
    return traced({{ranking.slots.data(), ranking.slots.size()},
                   {ranking.cosines.data(), ranking.cosines.size()},
                   checked_count(hits, "hits", 0),
                   guard_of(evidence, refractory)},
                  now, gain);
  }

 private:
  py::bytes traced(const Recalled& recalled, const py::object& now, const py::object& gain) const {
    const std::int64_t moment = checked_integer(now, "now");
    const SuccessRule rule{rate_, unit_, checked_number(gain, "gain")};
    // Made before anything changes: there may be no memory for it.
    auto told = py::reinterpret_steal<py::bytes>(PyBytes_FromStringAndSize(
        nullptr, static_cast<Py_ssize_t>(recalled.slots.size * sizeof(Trace))));
    if (!told) throw py::error_already_set();
    ebb::succeed(columns_, recalled, moment, rule,
                 reinterpret_cast<Trace*>(PyBytes_AS_STRING(told.ptr())));
    return told;
  }

  static StrengthColumns columns_of(const py::object& row, const py::object& strength,
                                    const py::object& anchor, const py::object& intensity,
                                    const py::object& accessed, const py::object& accesses) {
    const Span<double> strengths = mutable_view<double>(strength, "strength");
    const std::size_t size = strengths.size;
    return {vector_view<std::int64_t>(row, "row", size),
            strengths,
            mutable_view<double>(anchor, "anchor", size),
            vector_view<double>(intensity, "intensity", size),
            mutable_view<std::int64_t>(accessed, "accessed", size),
            mutable_view<std::int64_t>(accesses, "accesses", size)};
  }

  static std::optional<SuccessGuard> guard_of(const py::object& evidence,
                                              const py::object& refractory) {
    if (evidence.is_none()) return std::nullopt;
    return SuccessGuard{checked_number(evidence, "evidence"),
                        checked_integer(refractory, "refractory")};
  }

  double unit_;
  double rate_;
  StrengthColumns columns_;
  std::array<py::object, 6> held_;
};

// The traces that `succeed` told of one recall; a copy, since bytes need not be aligned for them.
std::vector<Trace> traces_of(const py::handle& told) {
  char* bytes = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(told.ptr(), &bytes, &size) != 0) throw py::error_already_set();
  const std::size_t count = static_cast<std::size_t>(size) / sizeof(Trace);
  if (count * sizeof(Trace) != static_cast<std::size_t>(size)) {
    throw ValueError("traces", "whole traces of " + std::to_string(sizeof(Trace)) + " bytes",
                     std::to_string(size) + " bytes");
  }
  std::vector<Trace> traces(count);
  if (count > 0) std::memcpy(traces.data(), bytes, count * sizeof(Trace));
  return traces;
}

// What the history keeps of one recall.
py::bytes past_of(Span<const Trace> traces) {
  auto payload = py::reinterpret_steal<py::bytes>(
      PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(traces.size * kPastBytes)));
  if (!payload) throw py::error_already_set();
  past(traces, PyBytes_AS_STRING(payload.ptr()));
  return payload;
}

// Tuples, which no other thread can change: (traces, now, gain) each. Long ago answered, they are
// no longer in the caches: each is read once, for both.
py::tuple retold_of(const py::tuple& recalls) {
  std::vector<std::vector<Trace>> told;
  std::vector<Retold> retold;
  told.reserve(recalls.size());
  py::list events;
  for (const py::handle one : recalls) {
    const auto recall = one.cast<py::tuple>();
    if (recall.size() != 3)
      throw ShapeError("recalls", "3 values each", std::to_string(recall.size()));
    const std::vector<Trace>& traces = told.emplace_back(traces_of(recall[0]));
    retold.push_back({{traces.data(), traces.size()},
                      checked_integer(recall[1], "now"),
                      checked_number(recall[2], "gain")});
    events.append(py::make_tuple(recall[1], past_of(retold.back().traces)));
  }
  py::list rows;
  for (const Kept& one : kept({retold.data(), retold.size()})) {
    rows.append(py::make_tuple(one.row, one.strength, one.anchor, one.accessed, one.accesses));
  }
  return py::make_tuple(rows, events);
}

}  // namespace

void bind_reinforcement(py::module_& m) {
  py::class_<HeldStrengths>(m, "Strengths", "The strengths of memories by slot, in columns.")
      .def(py::init<py::object, py::object, py::object, py::object, py::object, py::object,
                    const py::object&, const py::object&>(),
           py::arg("row"), py::arg("strength"), py::arg("anchor"), py::arg("intensity"),
           py::arg("accessed"), py::arg("accesses"), py::arg("unit"), py::arg("rate"))
      .def("succeed", &HeldStrengths::succeed,
           "Let the first `hits` slots succeed in place; return all as they were, as ebb::Trace.",
           py::arg("slots"), py::arg("similarity"), py::arg("hits"), py::arg("now"),
           py::arg("gain"), py::arg("evidence") = py::none(), py::arg("refractory") = 0)
      .def("succeed_products", &HeldStrengths::succeed_products,
           "The same of what a product ranking found, by its cosines.", py::arg("found"),
           py::arg("hits"), py::arg("now"), py::arg("gain"), py::arg("evidence") = py::none(),
           py::arg("refractory") = 0);
  m.def("retold", &retold_of,
        "What to write of recalls, each its traces, moment and gain: row, strength, anchor, last "
        "access and accesses of each memory that succeeded, by row; and of each recall its moment, "
        "and row, strength and R of each trace, as bytes.",
        py::arg("recalls"));
}

}  // namespace ebb::bindings
