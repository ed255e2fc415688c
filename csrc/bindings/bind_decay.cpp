#include <pybind11/pybind11.h>

#include "bindings/arguments.h"
#include "bindings/numpy_views.h"
#include "bindings/topics.h"
#include "core/decay.h"

namespace py = pybind11;

namespace ebb::bindings {

namespace {

py::array_t<float> retention(const py::object& anchor, const py::object& idle,
                             const py::object& rate) {
  const Span<const double> anchors = vector_view<double>(anchor, "anchor");
  const Span<const double> idles = vector_view<double>(idle, "idle", anchors.size);
  const Span<const double> rates = vector_view<double>(rate, "rate", anchors.size);
  py::array_t<float> out(static_cast<py::ssize_t>(anchors.size));
  float* const column = out.mutable_data();
  {
    const py::gil_scoped_release nogil;
    exponential_retention(anchors, idles, rates, column);
  }
  return out;
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

}  // namespace

void bind_decay(py::module_& m) {
  m.def("exponential_retention", &retention, "anchor * e^(-rate * idle), as float32.",
        py::arg("anchor"), py::arg("idle"), py::arg("rate"));
  m.def("log_weights", &weights, "ln(importance) - rate * age.", py::arg("importance"),
        py::arg("age"), py::arg("rate"));
  m.def("power_retention", &power, "(1 + F * elapsed / stability)^-exponent, 0.9 at stability.",
        py::arg("elapsed"), py::arg("stability"), py::arg("exponent"));
}

}  // namespace ebb::bindings
