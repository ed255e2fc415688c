#include <pybind11/pybind11.h>

#include "bindings/arguments.h"
#include "bindings/numpy_views.h"
#include "bindings/topics.h"
#include "core/decay.h"
#include "core/product_scores.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

// A column of the dtype that anchor has.
template <typename T>
Span<const T> like_anchor(const py::object& column, const std::string& argument,
                          std::size_t length) {
  if (!is_array_of<T>(column)) {
    raise_type(argument,
               "an array of " + dtype_name<T>() + ", as anchor is (all float64, or all float32)",
               type_text(column));
  }
  return vector_view<T>(column, argument, length);
}

template <typename T>
py::array_t<float> retention_of(const py::object& anchor, const py::object& idle,
                                const py::object& rate) {
  const Span<const T> anchors = vector_view<T>(anchor, "anchor");
  const Span<const T> idles = like_anchor<T>(idle, "idle", anchors.size);
  const Span<const T> rates = like_anchor<T>(rate, "rate", anchors.size);
  py::array_t<float> out(static_cast<py::ssize_t>(anchors.size));
  float* const column = out.mutable_data();
  {
    const py::gil_scoped_release nogil;
    exponential_retention(anchors, idles, rates, column);
  }
  return out;
}

py::array_t<float> retention(const py::object& anchor, const py::object& idle,
                             const py::object& rate) {
  if (is_array_of<double>(anchor)) return retention_of<double>(anchor, idle, rate);
  if (is_array_of<float>(anchor)) return retention_of<float>(anchor, idle, rate);
  raise_neither<double, float>(anchor, "anchor");
}

py::array_t<double> weights(const py::object& importance, const py::object& age,
                            const py::object& rate) {
  const Span<const double> importances = vector_view<double>(importance, "importance");
  const Span<const double> ages = vector_view<double>(age, "age", importances.size);
  const double rate_number = checked_number(rate, "rate");
  py::array_t<double> out(static_cast<py::ssize_t>(importances.size));
  double* const column = out.mutable_data();
  {
    const py::gil_scoped_release nogil;
    log_weights(importances, ages, rate_number, column);
  }
  return out;
}

py::array_t<double> power(const py::object& elapsed, const py::object& stability,
                          const py::object& exponent) {
  const Span<const double> times = vector_view<double>(elapsed, "elapsed");
  const Span<const double> stabilities = vector_view<double>(stability, "stability", times.size);
  const double power_number = checked_number(exponent, "exponent");
  py::array_t<double> out(static_cast<py::ssize_t>(times.size));
  double* const column = out.mutable_data();
  {
    const py::gil_scoped_release nogil;
    power_retention(times, stabilities, power_number, column);
  }
  return out;
}

Elapsed elapsed_view(const py::object& since, const py::object& now, const py::object& unit,
                     std::size_t length) {
  return {vector_view<std::int64_t>(since, "since_us", length), checked_integer(now, "now_us"),
          static_cast<double>(checked_count(unit, "unit_us", 1))};
}

Strengths strengths_view(const py::object& base, const std::string& base_name,
                         const py::object& strength, const py::object& intensity) {
  const Span<const double> bases = vector_view<double>(base, base_name);
  return {bases, vector_view<double>(strength, "strength", bases.size),
          vector_view<double>(intensity, "intensity", bases.size)};
}

py::array_t<double> share(const py::object& since, const py::object& now, const py::object& unit,
                          const py::object& rate) {
  const std::size_t rows = vector_view<std::int64_t>(since, "since_us").size;
  const Elapsed elapsed = elapsed_view(since, now, unit, rows);
  const double rate_number = checked_number(rate, "rate");
  py::array_t<double> out(static_cast<py::ssize_t>(rows));
  double* const column = out.mutable_data();
  {
    const py::gil_scoped_release nogil;
    exponential_share(elapsed, rate_number, column);
  }
  return out;
}

py::array_t<double> of_strength(const py::object& anchor, const py::object& strength,
                                const py::object& intensity, const py::object& since,
                                const py::object& now, const py::object& unit,
                                const py::object& rate) {
  const Strengths anchored = strengths_view(anchor, "anchor", strength, intensity);
  const Elapsed elapsed = elapsed_view(since, now, unit, anchored.base.size);
  const double rate_number = checked_number(rate, "rate");
  py::array_t<double> out(static_cast<py::ssize_t>(anchored.base.size));
  double* const column = out.mutable_data();
  {
    const py::gil_scoped_release nogil;
    strength_retention(elapsed, anchored, rate_number, column);
  }
  return out;
}

py::array_t<double> weights_since(const py::object& importance, const py::object& since,
                                  const py::object& now, const py::object& unit,
                                  const py::object& rate) {
  const Span<const double> importances = vector_view<double>(importance, "importance");
  const Elapsed age = elapsed_view(since, now, unit, importances.size);
  const double rate_number = checked_number(rate, "rate");
  py::array_t<double> out(static_cast<py::ssize_t>(importances.size));
  double* const column = out.mutable_data();
  {
    const py::gil_scoped_release nogil;
    log_weights(importances, age, rate_number, column);
  }
  return out;
}

py::array_t<double> power_of_strength(const py::object& importance, const py::object& strength,
                                      const py::object& intensity, const py::object& since,
                                      const py::object& now, const py::object& unit,
                                      const py::object& stability, const py::object& exponent) {
  const Strengths important = strengths_view(importance, "importance", strength, intensity);
  const Elapsed elapsed = elapsed_view(since, now, unit, important.base.size);
  const PowerForgetting law = {checked_number(stability, "stability"),
                               checked_number(exponent, "exponent")};
  py::array_t<double> out(static_cast<py::ssize_t>(important.base.size));
  double* const column = out.mutable_data();
  {
    const py::gil_scoped_release nogil;
    power_retention(elapsed, important, law, column);
  }
  return out;
}

py::tuple products(const py::object& slots, const py::object& cosines, const py::object& importance,
                   const py::object& since, const py::object& now, const py::object& unit,
                   const py::object& rate) {
  const CopiedSlots ranked(slots, "slots");
  const Span<const double> found = vector_view<double>(cosines, "cosines", ranked.size());
  const Span<const double> importances = vector_view<double>(importance, "importance");
  const ProductColumns columns{importances, elapsed_view(since, now, unit, importances.size)};
  const std::size_t count = ranked.size();
  const NewArray<double> nearness(count), weight(count), retained(count), score(count);
  // The GIL is kept: what a recall returns is few.
  product_scores({ranked, found}, columns, checked_number(rate, "rate"),
                 {nearness.values, weight.values, retained.values, score.values});
  return py::make_tuple(nearness.array, weight.array, retained.array, score.array);
}

}  // namespace

void bind_decay(py::module_& m) {
  m.def("exponential_retention", &retention,
        "anchor * e^(-rate * idle), as float32; of three columns of float64 or of float32.",
        py::arg("anchor"), py::arg("idle"), py::arg("rate"));
  m.def("log_weights", &weights, "ln(importance) - rate * age.", py::arg("importance"),
        py::arg("age"), py::arg("rate"));
  m.def("power_retention", &power, "(1 + F * elapsed / stability)^-exponent, 0.9 at stability.",
        py::arg("elapsed"), py::arg("stability"), py::arg("exponent"));
  m.def("exponential_share", &share, "e^(-rate * elapsed), a float32 in a float64.",
        py::arg("since_us"), py::arg("now_us"), py::arg("unit_us"), py::arg("rate"));
  m.def("strength_retention", &of_strength,
        "anchor * e^(-rate * elapsed), the rate slowed by strength and intensity.",
        py::arg("anchor"), py::arg("strength"), py::arg("intensity"), py::arg("since_us"),
        py::arg("now_us"), py::arg("unit_us"), py::arg("rate"));
  m.def("log_weights_since", &weights_since, "ln(importance) - rate * age.", py::arg("importance"),
        py::arg("since_us"), py::arg("now_us"), py::arg("unit_us"), py::arg("rate"));
  m.def("power_of_strength", &power_of_strength,
        "(1 + F * elapsed / grown stability)^-exponent, 0.9 at stability.", py::arg("importance"),
        py::arg("strength"), py::arg("intensity"), py::arg("since_us"), py::arg("now_us"),
        py::arg("unit_us"), py::arg("stability"), py::arg("exponent"));
  m.def("product_scores", &products,
        "(1 + cosine) / 2, importance and e^(-rate * age) of each slot, and their product.",
        py::arg("slots"), py::arg("cosines"), py::arg("importance"), py::arg("since_us"),
        py::arg("now_us"), py::arg("unit_us"), py::arg("rate"));
}

}  // namespace ebb::bindings
